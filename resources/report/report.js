"use strict";
(() => {
  const data = JSON.parse(document.getElementById("changes").textContent);
  const body = document.getElementById("rows");
  const text = document.getElementById("text");
  const status = document.getElementById("status");
  const count = document.getElementById("count");
  const more = document.getElementById("more");
  const page = 300;
  let found = [], shown = 0;

  const cell = (row, content, style) => {
    const made = row.insertCell();
    if (style) made.className = style;
    made.append(...content);
    return made;
  };

  // Where a name may be broken: between its words.
  const words = name => name.split(/(?<=[/_.:-])(?=[^/_.:-])|(?<=[a-z0-9])(?=[A-Z])/)
    .flatMap((word, at) => at ? [document.createElement("wbr"), word] : [word]);

  const badge = name => {
    const made = document.createElement("span");
    made.className = "status status-" + name;
    made.textContent = name;
    return made;
  };

  // Names and texts come from files: they are only ever set as text, never as markup.
  const draw = () => {
    for (const [kind, before, after, op, reason, match, details] of found.slice(shown, shown + page)) {
      const row = body.insertRow();
      cell(row, [badge(data.statuses[kind])]);
      const name = after === null ? before : after;
      cell(row, before !== null && after !== null && before !== after ? [...words(before), document.createElement("br"), "→ ", ...words(after)] : words(name), "name");
      cell(row, [data.ops[op]]);
      const why = cell(row, [data.reasons[reason]]);
      if (details) {
        const box = document.createElement("details"), title = document.createElement("summary"), pre = document.createElement("pre");
        title.textContent = "details";
        pre.textContent = JSON.stringify(details, null, 1);
        box.append(title, pre);
        why.append(box);
      }
      cell(row, [data.matches[match]], "muted");
    }
    shown = Math.min(shown + page, found.length);
    more.hidden = shown >= found.length;
    count.textContent = found.length.toLocaleString("en") + " of " + data.rows.length.toLocaleString("en") + " changes";
  };

  const filter = () => {
    const asked = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = status.value === "" ? -1 : Number(status.value);
    found = data.rows.filter(row => (wanted < 0 || row[0] === wanted) && asked.every(word =>
      [row[1], row[2], data.ops[row[3]], data.reasons[row[4]]].some(part => part !== null && part.toLowerCase().includes(word))));
    body.replaceChildren();
    shown = 0;
    draw();
  };

  let waiting = 0;
  text.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 120); });
  status.addEventListener("change", filter);
  more.addEventListener("click", draw);
  filter();
})();
