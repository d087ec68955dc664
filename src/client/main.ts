#!/usr/bin/env node
/** The entry of the file that CI jobs download (`/cli/ci-insights.mjs`). Connections that are kept open end with it. */
import { runClient } from './program.ts';

void runClient(process.argv.slice(2)).then((code) => process.exit(code));
