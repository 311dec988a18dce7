"""Training mode -> inference mode: flags, dropout, batch norms. See ``operations.inference_mode``."""
