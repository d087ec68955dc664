/** What a test or a package printed, bounded, and what of it explains a failure. */
import { STACKTRACE_BYTES_MAX } from '../../../domain/limits.ts';

/** In UTF-16 units, which are never more than bytes. */
const LENGTH_MAX = STACKTRACE_BYTES_MAX;

/** Lines with which `go test` frames the output of a test, indented for sub-tests. */
const FRAME = /^\s*(?:=== (?:RUN|PAUSE|CONT|NAME) |--- (?:PASS|FAIL|SKIP|BENCH): )/;
/** Lines with which it sums up a package. */
const SUMMARY = /^(?:PASS|FAIL|ok {2}\t.*|FAIL\t.*|\?.*\t\[no test files\]|exit status \d+|coverage: .*)$/;
const CRASH = /^(?:panic|fatal error): /;
const TIMEOUT = /^panic: (test timed out after .*)$/;

export class Output {
  /** The newest lines: a test says last why it fails. */
  readonly #lines: string[] = [];
  #length = 0;
  /** From the first line of a panic on; the oldest lines, which say why and where. */
  readonly #crash: string[] = [];
  #crashLength = 0;

  add(text: string): void {
    if (this.#crash.length === 0 && !CRASH.test(text)) this.#addLine(text);
    else if (this.#crashLength < LENGTH_MAX && !SUMMARY.test(text.trimEnd())) {
      this.#crash.push(text);
      this.#crashLength += text.length;
    }
  }

  #addLine(text: string): void {
    if (FRAME.test(text)) return;
    this.#lines.push(text);
    this.#length += text.length;
    // A test that prints much is shortened now and then, not with every line.
    if (this.#length < 2 * LENGTH_MAX) return;
    const kept = this.#lines.join('').slice(-LENGTH_MAX);
    this.#lines.splice(0, Infinity, kept);
    this.#length = kept.length;
  }

  get hasCrash(): boolean {
    return this.#crash.length > 0;
  }

  /** "test timed out after 10m0s", or null. */
  get timeout(): string | null {
    return TIMEOUT.exec(this.#crash[0]?.trimEnd() ?? '')?.[1] ?? null;
  }

  /** Names of the tests that ran when the time was up; empty without a timeout. */
  runningTests(): string[] {
    if (this.timeout === null) return [];
    const start = this.#crash.findIndex((line) => line.trim() === 'running tests:');
    if (start < 0) return [];
    const names: string[] = [];
    for (const line of this.#crash.slice(start + 1)) {
      const name = /^\t\t(.+) \([^)]*\)\s*$/.exec(line)?.[1];
      if (name === undefined) break;
      names.push(name);
    }
    return names;
  }

  /** Everything but the frames, without the indentation that sub-tests get. */
  text(): string {
    const lines = this.#lines
      .join('')
      .split('\n')
      .filter((line) => !SUMMARY.test(line));
    const indents = lines.filter((line) => line.trim() !== '').map((line) => /^ */.exec(line)?.[0].length ?? 0);
    const indent = indents.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
    return lines
      .map((line) => line.slice(Number.isFinite(indent) ? indent : 0))
      .join('\n')
      .trim();
  }

  /** The panic's own line, without the marks that say who caught it, which differ between versions of Go. */
  crashMessage(): string {
    return (this.#crash[0] ?? '').trim().replace(/ \[recovered[^\]]*\]$/, '');
  }

  /** The panic and its goroutines. */
  crashText(): string {
    return this.#crash.join('').trim();
  }
}
