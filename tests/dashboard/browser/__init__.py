"""What only a browser shows: in real headless Chromium."""
