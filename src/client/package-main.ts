#!/usr/bin/env node
/** The entry of the package on npm: what CI jobs run, and `import`, which people run once. */
import { runClient } from './program.ts';

const more = { import: async () => (await import('./import/command.ts')).importCommand() };

void runClient(process.argv.slice(2), more).then((code) => process.exit(code));
