#!/usr/bin/env bun
/** The `ci-insights` command. */
import { run } from './cli/program.ts';

// A connection that still tries to reach its store would keep the process alive.
process.exit(await run(process.argv.slice(2)));
