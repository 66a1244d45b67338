"""What the register costs: import, full derivation, small rounds."""
