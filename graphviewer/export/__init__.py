"""Results for people who have no graphviewer: reports."""
