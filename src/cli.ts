#!/usr/bin/env bun
/** The `ci-insights` command. */
import manifest from '../package.json' with { type: 'json' };
import { run } from './cli/program.ts';

process.exitCode = await run(process.argv.slice(2), manifest.version);
