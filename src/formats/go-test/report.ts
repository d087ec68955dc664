/** From the events of `go test -json` to executions, package by package, as each one ends. */
import { counted, type Report } from '../report.ts';
import { parseTimestamp } from '../time.ts';
import type { GoEvent } from './events.ts';
import { Output } from './output.ts';
import { GoPackage } from './package.ts';

const UNFINISHED_SHOWN_MAX = 5;
const CRASHES_SHOWN_MAX = 5;
const NAME_SHOWN_LENGTH_MAX = 200;

export class GoReport {
  readonly #packages = new Map<string, GoPackage>();
  /** The output of the compiler, by import path. */
  readonly #builds = new Map<string, Output>();
  readonly #unfinished: string[] = [];
  #unfinishedCount = 0;
  #cachedCount = 0;
  readonly #rounds = new Map<string, number>();
  readonly #crashes: string[] = [];
  #crashCount = 0;

  constructor(private readonly report: Report) {
    report.runner = { framework: 'go test', frameworkVersion: null, language: 'go' };
  }

  read(event: GoEvent): void {
    if (event.Action === 'build-output') this.#readBuild(event);
    if (event.Action.startsWith('build-')) return;
    const atMs = parseTimestamp(event.Time);
    if (atMs !== null) this.report.noticeTime(atMs);
    const goPackage = this.#packageOf(event.Package);
    const isEnd = event.Test === '' && /^(?:pass|fail|skip)$/.test(event.Action);
    if (isEnd) this.#end(goPackage, event, atMs);
    else goPackage.read(event, atMs, () => this.report.count());
  }

  #readBuild({ ImportPath, Output: text }: GoEvent): void {
    let build = this.#builds.get(ImportPath);
    if (!build) {
      this.report.count();
      build = new Output();
      this.#builds.set(ImportPath, build);
    }
    // `# example.com/shop/cart` stands above the errors of each package.
    if (!text.startsWith('# ')) build.add(text);
  }

  #packageOf(name: string): GoPackage {
    const known = this.#packages.get(name);
    if (known) return known;
    this.report.count();
    const round = this.#rounds.get(name) ?? 0;
    this.#rounds.set(name, round + 1);
    const started = new GoPackage(name, round);
    this.#packages.set(name, started);
    return started;
  }

  #end(goPackage: GoPackage, event: GoEvent, atMs: number | null): void {
    this.#packages.delete(goPackage.name);
    const buildOutput = event.FailedBuild === '' ? null : (this.#builds.get(event.FailedBuild)?.text() ?? '');
    const { records, isCached, unfinished, crash } = goPackage.end(event, atMs, buildOutput);
    if (isCached) this.#cachedCount++;
    else for (const record of records) this.report.add(record);
    if (crash !== null) this.#noteCrash(goPackage.name, crash);
    this.#unfinishedCount += unfinished.length;
    for (const test of unfinished.slice(0, UNFINISHED_SHOWN_MAX - this.#unfinished.length))
      this.#unfinished.push(`${goPackage.name}.${test}`.slice(0, NAME_SHOWN_LENGTH_MAX));
  }

  #noteCrash(name: string, crash: string): void {
    this.#crashCount++;
    if (this.#crashes.length < CRASHES_SHOWN_MAX)
      this.#crashes.push(`${name.slice(0, NAME_SHOWN_LENGTH_MAX)} (${crash})`);
  }

  /** @param cutAtLine where the last event is incomplete */
  finish(cutAtLine: number | null): void {
    const open = [...this.#packages.values()];
    for (const goPackage of open) for (const record of goPackage.records) this.report.add(record);
    const [first] = open;
    if (cutAtLine !== null) this.report.warnOfBreak(`is cut short at line ${cutAtLine}`);
    else if (first) this.report.warnOfBreak(`is cut short: ${first.name.slice(0, NAME_SHOWN_LENGTH_MAX)} does not end`);
    if (this.#cachedCount > 0)
      this.report.warn(
        `Go took the results of ${counted(this.#cachedCount, 'package')} from its cache. The tests did not run and are not counted; -count=1 runs them.`,
      );
    if (this.#crashCount > 0)
      this.report.warnOfTrouble(
        `${counted(this.#crashCount, 'package')} stopped before all tests had run: ${this.#crashes.join(', ')}${this.#crashCount > this.#crashes.length ? ', …' : ''}.`,
      );
    if (this.#unfinishedCount > 0)
      this.report.warnOfTrouble(
        `${counted(this.#unfinishedCount, 'test')} did not end because the package stopped first, and so do not count: ${this.#unfinished.join(', ')}${this.#unfinishedCount > this.#unfinished.length ? ', …' : ''}.`,
      );
  }
}
