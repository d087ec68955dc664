"""Schemathesis knows no serializer for lines of JSON, as `go test -json` writes them."""

import schemathesis

schemathesis.serializer.alias("application/x-ndjson", "text/plain")
