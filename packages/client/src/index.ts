#!/usr/bin/env node
/** The same file as the service delivers at `/cli/ci-insights.mjs`. */
import '../../../src/client/main.ts';
