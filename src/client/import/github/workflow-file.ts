/**
 * What a workflow file of GitHub says of the names of its jobs: the API tells names for people, and live results have the ids
 * of jobs and the names of axes. Reads block YAML by its indentation, which is how workflow files are written; what it
 * cannot read names nothing. Pure.
 */
export interface WorkflowJob {
  id: string;
  /** With its expressions; undefined: the id is its name. */
  name: string | undefined;
  /** Names of the axes of its matrix, in their order. */
  axes: readonly string[];
}

interface Line {
  indent: number;
  key: string;
  value: string;
}

const KEY = /^( *)(?:"([^"]+)"|'([^']+)'|([\w.-]+)):(?:\s+(.*))?$/;

export function jobsOfWorkflow(text: string): WorkflowJob[] {
  const lines = linesOf(text);
  return childrenOf(
    lines,
    lines.findIndex(({ indent, key }) => indent === 0 && key === 'jobs'),
  ).map(({ at, line }) => {
    const own = childrenOf(lines, at);
    const strategy = own.find(({ line: { key } }) => key === 'strategy');
    const matrix = strategy && childrenOf(lines, strategy.at).find(({ line: { key } }) => key === 'matrix');
    const axes = matrix ? childrenOf(lines, matrix.at).map(({ line: { key } }) => key) : [];
    return {
      id: line.key,
      name: own.find(({ line: { key } }) => key === 'name')?.line.value || undefined,
      axes: axes.filter((axis) => axis !== 'include' && axis !== 'exclude'),
    };
  });
}

function linesOf(text: string): Line[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, indent = '', double, single, plain, value = ''] = KEY.exec(line) ?? [];
    const key = double ?? single ?? plain;
    return key === undefined ? [] : [{ indent: indent.length, key, value: unquoted(value) }];
  });
}

function unquoted(value: string): string {
  const text = value.trim();
  const isQuoted = text.length > 1 && (text.startsWith('"') || text.startsWith("'")) && text.at(-1) === text[0];
  if (isQuoted) return text.slice(1, -1);
  const comment = text.indexOf(' #');
  return comment < 0 ? text : text.slice(0, comment).trim();
}

/** The keys one level below a line. */
function childrenOf(lines: readonly Line[], parent: number): { at: number; line: Line }[] {
  const above = lines[parent];
  if (!above) return [];
  const children: { at: number; line: Line }[] = [];
  let indent: number | undefined;
  for (let at = parent + 1; at < lines.length; at++) {
    const line = lines[at];
    if (!line || line.indent <= above.indent) break;
    indent ??= line.indent;
    if (line.indent === indent) children.push({ at, line });
  }
  return children;
}

export interface NamedJob {
  /** As live results name it. */
  job: string;
  /** By the names of the matrix; the values alone under `matrix` where names are not known. */
  matrix: Readonly<Record<string, string>>;
}

/**
 * The job that a name for people means: `test (ubuntu-latest, 3.13)` is the job `test` with two values of its matrix. A job of
 * a called workflow is `caller / test (…)`.
 */
export function namedJob(shown: string, jobs: readonly WorkflowJob[]): NamedJob {
  const last = shown.slice(shown.lastIndexOf(' / ') < 0 ? 0 : shown.lastIndexOf(' / ') + 3);
  for (const job of jobs) {
    const matrix = matched(last, job);
    if (matrix) return { job: job.id, matrix };
  }
  const [, base = last, values] = LEG.exec(last) ?? [];
  return { job: base, matrix: values === undefined ? {} : { matrix: values } };
}

const LEG = /^(.*?) \(([^()]*)\)$/;
const EXPRESSION = /\$\{\{(.*?)\}\}/g;
const OF_MATRIX = /^\s*matrix\.([\w-]+)\s*$/;

function matched(shown: string, { id, name = id, axes }: WorkflowJob): Record<string, string> | undefined {
  const expressions = [...name.matchAll(EXPRESSION)].map(([, inner = '']) => OF_MATRIX.exec(inner)?.[1]);
  if (expressions.length === 0) {
    if (shown === name) return {};
    const [, base, values = ''] = LEG.exec(shown) ?? [];
    return base === name && axes.length > 0 ? byAxes(values, axes) : undefined;
  }
  const found = valuesBetween(
    name.split(EXPRESSION).filter((_, i) => i % 2 === 0),
    shown,
  );
  if (!found) return undefined;
  const entries = expressions.map((axis, i): [string, string] => [axis ?? `name-${i + 1}`, found[i] ?? '']);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

/** What stands between the fixed parts of a name; undefined if it does not have them. */
function valuesBetween([first = '', ...others]: readonly string[], shown: string): string[] | undefined {
  if (!shown.startsWith(first)) return undefined;
  const values: string[] = [];
  let at = first.length;
  for (const [i, part] of others.entries()) {
    const isLast = i === others.length - 1;
    const next = isLast ? shown.length - part.length : shown.indexOf(part, at);
    if (next < at || !shown.startsWith(part, next)) return undefined;
    values.push(shown.slice(at, next));
    at = next + part.length;
  }
  return values;
}

function byAxes(values: string, axes: readonly string[]): Record<string, string> {
  const parts = values.split(', ');
  // Values of `include` come without names here, and a value may hold a comma.
  if (parts.length < axes.length) return { matrix: values };
  return Object.fromEntries(axes.map((axis, i) => [axis, parts[i] ?? '']));
}
