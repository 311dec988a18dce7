"""Arrays in, arrays out: where boxes stand and how edges run."""
