/** Incidents of infrastructure, with tests that are fine: outages, shards that die, databases, slow days, bad runners. */
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';

/** The run that an incident meets. */
interface MetRun {
  at: number;
  job: number;
  commit: string;
  all: readonly number[];
}

/** Fails a test with a message; `again` is how likely a retry within the run fails too. */
type Spoil = (test: number, message: string, again: number) => void;

export interface Incident {
  from: number;
  to: number;
  spoil(run: MetRun, spoil: Spoil, random: () => number): void;
}

const INCIDENT_KINDS = ['outage', 'partial', 'dependency', 'shard', 'slow day', 'runner'] as const;
type Kind = (typeof INCIDENT_KINDS)[number];

export function makeIncidents(
  { days, incidentsPerWeek, tests }: { days: number; incidentsPerWeek: number; tests: number },
  start: number,
  random: () => number,
): Incident[] {
  const count = Math.round((days / 7) * incidentsPerWeek);
  const database = sampleOf(tests, 0.1 + 0.4 * random(), random);
  return Array.from({ length: count }, () => {
    const kind = INCIDENT_KINDS[Math.floor(random() * INCIDENT_KINDS.length)] as Kind;
    // Most of it happens while people work.
    const at = start + Math.floor(random() * days) * DAY_MS + (7 + random() * 12) * HOUR_MS;
    return makeIncident(kind, at, { tests, database, messageOf: messagesOf(random) }, random);
  });
}

interface Surroundings {
  tests: number;
  database: ReadonlySet<number>;
  messageOf(test: number, random: () => number): string;
}

function makeIncident(kind: Kind, at: number, around: Surroundings, random: () => number): Incident {
  const { messageOf, database } = around;
  const each =
    (share: number, again: number): Incident['spoil'] =>
    (run, spoil, random) => {
      for (const test of run.all) if (random() < share) spoil(test, messageOf(test, random), again);
    };
  const only =
    (victims: ReadonlySet<number>): Incident['spoil'] =>
    (run, spoil, random) => {
      for (const test of run.all) if (victims.has(test)) spoil(test, messageOf(test, random), 1);
    };
  const hours = (least: number, most: number): number => at + (least + random() * (most - least)) * HOUR_MS;
  if (kind === 'outage') return { from: at, to: hours(0.5, 8), spoil: each(0.97, 0.97) };
  if (kind === 'partial') {
    const share = 0.02 ** random();
    const victims = sampleOf(around.tests, share, random);
    return { from: at, to: hours(0.5, 8), spoil: random() < 0.5 ? only(victims) : each(share, share) };
  }
  if (kind === 'dependency') return { from: at, to: hours(0.5, 5), spoil: only(database) };
  if (kind === 'runner') {
    const share = 0.2 + 0.2 * random();
    const bad = each(share, share);
    const spoil: Incident['spoil'] = (run, spoil, random) => {
      // The next free of four runners takes a CI job.
      if (random() < 0.25) bad(run, spoil, random);
    };
    return { from: at, to: at + (1 + 2 * random()) * DAY_MS, spoil };
  }
  if (kind === 'slow day') {
    const from = Math.floor(at / DAY_MS) * DAY_MS;
    const share = 0.01 + 0.04 * random();
    return { from, to: from + DAY_MS, spoil: each(share, share) };
  }
  return { from: at, to: at + 6 * HOUR_MS, spoil: shardThatDies(messageOf) };
}

/** One part of the first run that it meets ends halfway. */
function shardThatDies(messageOf: Surroundings['messageOf']): Incident['spoil'] {
  let victim: string | undefined;
  return (run, spoil, random) => {
    const name = `${run.commit}/${run.job}`;
    victim ??= name;
    if (victim !== name) return;
    victim = '';
    const length = Math.ceil(run.all.length * (0.05 + 0.3 * random()));
    const first = Math.floor(random() * (run.all.length - length + 1));
    for (const test of run.all.slice(first, first + length)) spoil(test, messageOf(test, random), 1);
  };
}

/** One message for all tests, one for each, one with a duration, or one of two. */
function messagesOf(random: () => number): Surroundings['messageOf'] {
  const kind = Math.floor(random() * 4);
  if (kind === 0) return () => 'connection refused';
  if (kind === 1) return (test) => `no answer for ${test}`;
  if (kind === 2) return (_, random) => `timed out after ${Math.floor(30 + random() * 60)} seconds`;
  return (_, random) => (random() < 0.5 ? 'no space left on device' : 'read-only file system');
}

function sampleOf(tests: number, share: number, random: () => number): Set<number> {
  return new Set(Array.from({ length: tests }, (_, test) => test).filter(() => random() < share));
}
