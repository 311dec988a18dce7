"""The role rules, one file per part of a training graph. See ``roles.registry`` for how to add one."""
