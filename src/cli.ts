#!/usr/bin/env bun
/** The `ci-insights` command. */
import manifest from '../package.json' with { type: 'json' };
import { run } from './cli/program.ts';

const code = await run(process.argv.slice(2), manifest.version);
// A connection that still tries to reach its store would keep the process; what was printed must be out before.
process.stdout.write('', () => process.exit(code));
