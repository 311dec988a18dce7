"""Document -> document: one file per operation; see ``registry``."""
