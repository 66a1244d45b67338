"""Who asks: host callback, proxy header, token, password, or the one person at this machine."""
