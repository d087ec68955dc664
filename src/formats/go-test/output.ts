/** The output of a test or a package, bounded in length, and the part of it that explains a failure. */
import { STACKTRACE_BYTES_MAX } from '../../domain/limits.ts';

/** In UTF-16 units, which are never more than bytes. */
const LENGTH_MAX = STACKTRACE_BYTES_MAX;
/** Longer lines are not looked at for a panic within them. */
const SUSPECT_LENGTH_MAX = 4_096;

/** The lines around the output of a test, indented for sub-tests. */
const FRAME = /^\s*(?:=== (?:RUN|PAUSE|CONT|NAME) |--- (?:PASS|FAIL|SKIP|BENCH): )/;
/** The lines that sum up a package. */
const SUMMARY = /^(?:PASS|FAIL|ok {2}\t.*|FAIL\t.*|\?.*\t\[no test files\]|exit status \d+|coverage: .*)$/;
const CRASH = /^(?:panic|fatal error): /;
const TIMEOUT = /^panic: (test timed out after .*)$/;
const RACE = /^WARNING: DATA RACE\s*$/;
/** Stands below a panic; what is above it on the same line may be output without a line break. */
const GOROUTINE = /^goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[/;
const UNTERMINATED_CRASH = /(?:panic|fatal error): .*\n?$/s;

export class Output {
  /** The newest lines, because a test usually prints last why it fails. */
  readonly #lines: string[] = [];
  #length = 0;
  /** The first lines of a panic, which say why and where. */
  readonly #crash: string[] = [];
  #crashLength = 0;
  #crashText: string | null = null;
  /** The part of a line that speaks of a crash after other output, until it turns out to be one. */
  #suspected: string | null = null;
  #hasRace = false;

  add(text: string): void {
    this.#hasRace ||= RACE.test(text);
    if (this.#crash.length === 0) this.#suspect(text);
    if (this.#crash.length === 0 && !CRASH.test(text)) this.#addLine(text);
    else if (this.#crashLength < LENGTH_MAX && !SUMMARY.test(text.trimEnd())) {
      this.#crash.push(text);
      this.#crashText = null;
      this.#crashLength += text.length;
    }
  }

  #addLine(text: string): void {
    if (text === '' || FRAME.test(text)) return;
    this.#lines.push(text);
    this.#length += text.length;
    // Shortened only now and then: doing it for every line would be slow.
    if (this.#length < 2 * LENGTH_MAX) return;
    const kept = this.#lines.join('').slice(-LENGTH_MAX);
    this.#lines.splice(0, Infinity, kept);
    this.#length = kept.length;
  }

  /** A panic may begin in the line that a program was printing: then its goroutines tell. */
  #suspect(text: string): void {
    if (this.#suspected !== null && GOROUTINE.test(text)) {
      this.#crash.push(this.#suspected);
      this.#crashLength += this.#suspected.length;
    }
    const start = text.length > SUSPECT_LENGTH_MAX || CRASH.test(text) ? -1 : text.search(UNTERMINATED_CRASH);
    if (start > 0) this.#suspected = text.slice(start);
  }

  /** Whether the race detector of Go reports something. */
  get hasRace(): boolean {
    return this.#hasRace;
  }

  get hasCrash(): boolean {
    return this.#crash.length > 0;
  }

  /** "test timed out after 10m0s", or null. */
  get timeout(): string | null {
    return TIMEOUT.exec(this.#crash[0]?.trimEnd() ?? '')?.[1] ?? null;
  }

  /** The tests that were running at the timeout. */
  runningTests(): string[] {
    if (this.timeout === null) return [];
    const start = this.#crash.findIndex((line) => line.trim() === 'running tests:');
    if (start < 0) return [];
    const names: string[] = [];
    for (const line of this.#crash.slice(start + 1)) {
      // `\t\tTestSlow (1s)`
      const end = line.lastIndexOf(' (');
      if (!line.startsWith('\t\t') || end < 0) break;
      names.push(line.slice(2, end));
    }
    return names;
  }

  /** The printed text, without Go's own lines and the indentation of sub-tests. */
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

  /** The first line of the panic, without `[recovered]` and the like, which differ between versions of Go. */
  crashMessage(): string {
    return (this.#crash[0] ?? '').trim().replace(/ \[recovered[^\]]*\]$/, '');
  }

  /** The panic with its goroutines. */
  crashText(): string {
    this.#crashText ??= this.#crash.join('').trim();
    return this.#crashText;
  }
}
