/**
 * Segments: what a worker kept within a minute, as one file of lines or one object. Only the worker that began a segment adds
 * to it, and only within that minute, so nothing is ever shared between processes.
 */
import { randomBytes } from 'node:crypto';
import { MINUTE_MS } from '../../domain/time.ts';

/** `2026-11-29/15-31-6f0c3a9b12de-0.jsonl`: day, minute, who wrote it, and which of this minute. In UTC. */
const NAME = /^(\d{4}-\d\d-\d\d)\/(\d\d)-(\d\d)-[0-9a-f]{12}-\d+\.jsonl$/;

/** Another machine's clock may be so far behind. */
const CLOCK_MS = MINUTE_MS;

export const newWriterId = (): string => randomBytes(6).toString('hex');

export function segmentName(at: number, writer: string, number: number): string {
  const [day = '', time = ''] = new Date(at).toISOString().split('T');
  return `${day}/${time.slice(0, 5).replace(':', '-')}-${writer}-${number}.jsonl`;
}

/** When the minute of a segment began; undefined for what is no segment. */
export function beganAt(name: string): number | undefined {
  const [, day, hour, minute] = NAME.exec(name) ?? [];
  return day === undefined ? undefined : Date.parse(`${day}T${hour}:${minute}:00Z`);
}

/** Whether nothing is added to it any more. */
export const isClosed = (name: string, now: number): boolean =>
  (beganAt(name) ?? Number.POSITIVE_INFINITY) + MINUTE_MS + CLOCK_MS < now;

/** In the order of their minutes. */
export const inOrder = (names: readonly string[]): string[] =>
  names.filter((name) => beganAt(name) !== undefined).sort();
