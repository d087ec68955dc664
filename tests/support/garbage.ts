/** Keeps about 150 MiB of objects, makes 300 MiB of garbage, and prints the most memory that this process had, in MiB. */
import { readFileSync } from 'node:fs';

const KEPT = 150;
const THROWN_AWAY = 300;

const objects = (i: number): object[] => Array.from({ length: 10_000 }, (_, j) => ({ i, j, text: `${i}/${j}` }));
const kept = Array.from({ length: KEPT }, (_, i) => objects(i));
let last: object[] = [];
for (let i = 0; i < THROWN_AWAY; i++) last = objects(i);
if (kept.length + last.length === 0) throw new Error('they must not be left out');
const kibibytes = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
process.stdout.write(String(Math.round(kibibytes / 1_024)));
