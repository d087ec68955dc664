/**
 * From the lines of a TAP report to executions. Subtests are indented by four blanks, and the test point after them sums
 * them up and names them, so a subtest is kept until that point.
 */
import { UPLOAD_LIMITS } from '../../domain/limit-table.ts';
import { DEPTH_MAX } from '../../domain/limits.ts';
import { InvalidUpload } from '../errors.ts';
import { type NamePath, pathWithin } from '../path.ts';
import { counted, type Report, TOO_LONG_NAME } from '../report.ts';
import { Diagnostics, type Fields, failureOf, indentOf, NO_FIELDS } from './diagnostics.ts';
import { type Point, pointOf, unescaped } from './point.ts';

const INDENT = 4;
const SEPARATOR = ' › ';
const TROUBLE_LENGTH_MAX = 500;
const SUBTEST = /^# Subtest:? *(.*)$/;
const PLAN = /^1\.\.(\d{1,9})(?:\s|$)/;

interface Node {
  point: Point;
  /** The comment above it, which in tape is the name of the test. */
  section: string;
  /** From its block; null without one. */
  fields: Fields | null;
  comments: Diagnostics;
  /** Null for a test. */
  children: Node[] | null;
}

/** Test points of one indentation. */
interface Level {
  nodes: Node[];
  /** The name of its subtest, as a comment announced it. */
  title: string | null;
  /** The name of the next subtest. */
  announced: string | null;
  section: string;
  plan: number | null;
  count: number;
  /** The node whose subtests follow it in braces. */
  open: Node | null;
}

const levelOf = (title: string | null): Level => ({
  nodes: [],
  title,
  announced: null,
  section: '',
  plan: null,
  count: 0,
  open: null,
});

export class TapReport {
  /** Whether there was anything that only TAP has. */
  isTap = false;
  readonly #levels: Level[] = [levelOf(null)];
  /** The last test point, with the depth of its indentation. */
  #last: { node: Node; depth: number } | null = null;
  /** The block that is open. */
  #block: { indent: number; lines: Diagnostics } | null = null;
  #cutAtLine: number | null = null;
  #lostCount = 0;
  #unnamedCount = 0;

  constructor(private readonly report: Report) {}

  /** Whether empty lines belong to a text. */
  get isInBlock(): boolean {
    return this.#block !== null;
  }

  read(line: string, number: number, isWhole: boolean): void {
    const indent = indentOf(line);
    if (this.#readYaml(line, indent)) return;
    const depth = Math.floor(indent / INDENT);
    const text = line.slice(depth * INDENT);
    const point = pointOf(text);
    if (point) this.#readPoint(point, depth, number, isWhole);
    else if (text.startsWith('#')) this.#readComment(text, depth);
    else if (text === '}') this.#closeBraces(depth);
    else if (PLAN.test(text)) this.#readPlan(Number(PLAN.exec(text)?.[1]), depth);
    else if (/^TAP version \d/.test(text)) this.isTap = true;
    else if (/^Bail out!/i.test(text)) {
      this.isTap = true;
      this.report.warnOfTrouble(`The test run bailed out: ${text.slice(9).trim().slice(0, TROUBLE_LENGTH_MAX) || '-'}`);
    } else if (text.trim() === '---' && this.#last && indent > this.#last.depth * INDENT)
      this.#block = { indent, lines: new Diagnostics() };
  }

  /** Whether the line is part of a block. */
  #readYaml(line: string, indent: number): boolean {
    const block = this.#block;
    if (block === null || !this.#last) return false;
    const isOver = line !== '' && indent < block.indent;
    const isEnd = indent === block.indent && line.trim() === '...';
    if (!isOver && !isEnd) block.lines.add(line.slice(block.indent));
    else {
      this.#last.node.fields = block.lines.fields();
      this.#block = null;
    }
    return !isOver;
  }

  #readPoint(point: Point, depth: number, number: number, isWhole: boolean): void {
    this.isTap = true;
    const level = this.#levelAt(depth);
    // Its description may be cut, unless it is the last that was planned.
    if (!isWhole && level.plan !== level.count + 1) {
      this.#cutAtLine = number;
      return;
    }
    this.report.count();
    const inner = this.#closeAbove(depth);
    const children = inner && inner.nodes.length > 0 ? inner.nodes : null;
    const { section } = level;
    const node: Node = { point, section, fields: null, comments: new Diagnostics(), children };
    if (inner) this.#checkPlan(inner, point.description);
    level.announced = null;
    level.count++;
    if (depth === 0) this.#addAll(level.nodes.splice(0));
    level.nodes.push(node);
    level.open = point.opensBraces ? node : null;
    this.#last = { node, depth };
  }

  /** Opens the levels down to this depth. */
  #levelAt(depth: number): Level {
    if (depth > DEPTH_MAX) throw new InvalidUpload(UPLOAD_LIMITS.DEPTH_MAX.sentence('report', 'subtests'));
    while (this.#levels.length <= depth)
      this.#levels.push(
        levelOf(this.#levels.at(-1)?.announced ?? this.#levels.at(-1)?.open?.point.description ?? null),
      );
    return this.#levels[depth] as Level;
  }

  /** Takes away the level within this depth. Those further in become subtests of it, as far as they have a title. */
  #closeAbove(depth: number): Level | null {
    let inner: Level | null = null;
    while (this.#levels.length > depth + 1) {
      const outer = this.#levels.pop() as Level;
      if (inner) this.#adopt(outer, inner);
      inner = outer;
    }
    return inner;
  }

  #adopt(outer: Level, inner: Level): void {
    if (inner.nodes.length === 0) return;
    if (inner.title === null) this.#lostCount += inner.nodes.length;
    else outer.nodes.push(summaryOf(inner.title, inner.nodes));
  }

  #closeBraces(depth: number): void {
    const node = this.#levels[depth]?.open;
    if (!node) return;
    const inner = this.#closeAbove(depth);
    if (inner && inner.nodes.length > 0) node.children = inner.nodes;
    if (inner) this.#checkPlan(inner, node.point.description);
  }

  #readComment(text: string, depth: number): void {
    // It may stand before the first point of a subtest.
    const level = this.#levels.length >= depth ? this.#levelAt(depth) : undefined;
    const subtest = SUBTEST.exec(text)?.[1];
    if (subtest !== undefined && level) {
      level.announced = unescaped(subtest.trim());
      return;
    }
    const last = this.#last?.depth === depth ? this.#last.node : null;
    const comment = text.replace(/^#\s{0,3}/, '');
    if (last && !last.point.isOk && last.fields === null) {
      if (!comment.startsWith('Looks like you ')) last.comments.add(comment);
    } else if (level) level.section = comment.trim().slice(0, TOO_LONG_NAME);
  }

  #readPlan(plan: number, depth: number): void {
    this.isTap = true;
    this.#levelAt(depth).plan ??= plan;
  }

  #checkPlan({ plan, count }: Level, title: string | null): void {
    if (plan === null || plan === count) return;
    const what = title === null ? 'The plan' : `The plan of ${title.slice(0, TROUBLE_LENGTH_MAX)}`;
    this.report.warnOfTrouble(`${what} announces ${counted(plan, 'test')}, and the report holds ${count}.`);
  }

  finish(): void {
    const [top] = this.#levels as [Level];
    const isCut = this.#cutAtLine !== null || this.#block !== null || top.plan === null;
    // More about the last test may be missing.
    if (isCut && this.#last && this.#last.node.fields === null) this.#drop(this.#last);
    const inner = this.#closeAbove(0);
    if (inner) this.#adopt(top, inner);
    this.#addAll(top.nodes);
    if (isCut)
      this.report.warnOfBreak(
        this.#cutAtLine !== null
          ? `is cut short at line ${this.#cutAtLine}`
          : 'is cut short: it has no plan at its end',
      );
    else this.#checkPlan(top, null);
    if (this.#unnamedCount > 0)
      this.report.warn(
        `${counted(this.#unnamedCount, 'test point')} without a description did not fail, and so do not count.`,
      );
    if (this.#lostCount > 0)
      this.report.warnOfTrouble(
        `${counted(this.#lostCount, 'test')} cannot be named: the report breaks off before it names their subtest.`,
      );
  }

  #drop({ node, depth }: { node: Node; depth: number }): void {
    const nodes = this.#levels[depth]?.nodes;
    if (nodes?.at(-1) === node) nodes.pop();
  }

  #addAll(nodes: readonly Node[]): void {
    for (const node of nodes) this.#add(node, [], '', false);
  }

  /** @param isSkipped whether a subtest around it is */
  #add(node: Node, path: NamePath, prefix: string, isSkipped: boolean): void {
    const { point, children } = node;
    const name = `${prefix}${point.description}`.slice(0, TOO_LONG_NAME);
    const isLeftOut = isSkipped || point.directive !== null;
    if (children === null) this.#addTest(node, path, name, isLeftOut);
    else {
      if (!point.isOk && !isLeftOut && !children.some(hasFailed)) this.#warnOfSubtest(node, name);
      const within = pathWithin(path, point.description);
      const around = point.description === '' ? prefix : `${name}${SEPARATOR}`;
      for (const child of children) this.#add(child, within, around, isLeftOut);
    }
  }

  #addTest({ point, section, fields, comments }: Node, path: NamePath, name: string, isLeftOut: boolean): void {
    const durationMs = Number(fields?.get('duration_ms'));
    const durationSeconds = durationMs > 0 && Number.isFinite(durationMs) ? durationMs / 1000 : point.durationSeconds;
    const isFailed = !point.isOk && !isLeftOut;
    if (point.description === '') {
      if (isFailed) this.report.reject('the test point has no description', '', durationSeconds);
      else this.#unnamedCount++;
      return;
    }
    this.report.add({
      place: [path, point.description],
      name,
      status: isLeftOut ? 'skipped' : isFailed ? 'failed' : 'passed',
      durationSeconds,
      finishedAtMs: null,
      filepath: null,
      function: point.description,
      isFlaky: false,
      isRetried: false,
      failures: isFailed ? [failureOf(fields ?? NO_FIELDS, comments.text())] : [],
      // Runners that try again write the last attempt.
      listing: 'never',
      home: { suites: section === '' ? [] : [section], file: null, project: null, className: null, ownName: name },
    });
  }

  #warnOfSubtest({ fields, comments }: Node, name: string): void {
    const message = failureOf(fields ?? NO_FIELDS, comments.text()).message?.split('\n', 1)[0] ?? 'it failed';
    this.report.warnOfTrouble(
      `The subtest ${name.slice(0, TROUBLE_LENGTH_MAX)} reports an error outside of its tests: ${message.slice(0, TROUBLE_LENGTH_MAX)}`,
    );
  }
}

const hasFailed = ({ point, children }: Node): boolean =>
  point.directive === null && (children === null ? !point.isOk : children.some(hasFailed));

/** A subtest whose own test point is missing. */
const summaryOf = (description: string, children: Node[]): Node => ({
  point: { isOk: true, description, directive: null, durationSeconds: 0, opensBraces: false },
  section: '',
  fields: null,
  comments: new Diagnostics(),
  children,
});
