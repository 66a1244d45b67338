"""Files on their way into the register: read, mapped to our columns, and streamed into an import job."""
