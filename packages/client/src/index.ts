#!/usr/bin/env node
/** The file that the service delivers at `/cli/ci-insights.mjs`, and `import`, which no CI job needs. */
import '../../../src/client/package-main.ts';
