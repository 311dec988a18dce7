"""``python -m graphviewer.worker``: the background process; the window starts it."""

from graphviewer.worker.server import RunJob, serve


def load() -> RunJob:
    """Import the jobs; TensorFlow is imported only by those that need it."""
    from graphviewer.worker.jobs import run_job

    return run_job


if __name__ == "__main__":
    serve(load)
