/** The reading of a builder of images: which files .dockerignore lets through, and what a Dockerfile copies. */

/**
 * Docker's rules: a pattern is a path from the root of the context with `*`, `?`, classes and `**`; it covers what is below
 * a folder that it matches; `!` takes back; the last pattern that matches decides.
 */
export function isIgnored(patterns: readonly string[], path: string): boolean {
  let ignored = false;
  for (const line of patterns) {
    const isTakenBack = line.startsWith('!');
    if (matches(isTakenBack ? line.slice(1) : line, path)) ignored = !isTakenBack;
  }
  return ignored;
}

/** The patterns of a .dockerignore: no comments, no blank lines, no slashes around a path. */
export const patternsOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replace(/^(!?)\s*(?:\.?\/+)*/, '$1').replace(/\/+$/, ''));

/** The path or a folder above it. */
function matches(pattern: string, path: string): boolean {
  const parts = path.split('/');
  const expression = expressionOf(pattern);
  return parts.some((_, i) => expression.test(parts.slice(0, i + 1).join('/')));
}

function expressionOf(pattern: string): RegExp {
  const source = pattern.replace(/\*\*\/|\*\*|\*|\?|\[[^\]]*\]|[.+^${}()|\\]/g, (token) => {
    if (token === '**/') return '(?:.*/)?';
    if (token === '**') return '.*';
    if (token === '*') return '[^/]*';
    if (token === '?') return '[^/]';
    return token.startsWith('[') ? token : `\\${token}`;
  });
  return new RegExp(`^${source}$`);
}

interface Copy {
  kind: 'copy';
  sources: readonly string[];
  target: string;
  /** The stage that it copies from; undefined: the context. */
  from: string | undefined;
}

interface Run {
  kind: 'run';
  command: string;
}

export interface Stage {
  name: string;
  base: string;
  /** In order. */
  steps: readonly (Copy | Run)[];
  user: string | undefined;
}

/** Reads the instructions that this Dockerfile uses; throws at one that copies in another form. */
export function stagesOf(dockerfile: string): Stage[] {
  const stages: { name: string; base: string; steps: (Copy | Run)[]; user: string | undefined }[] = [];
  const lines = dockerfile.replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, ' ');
  for (const [, name = '', rest = ''] of lines.matchAll(/^([A-Z]+) (.+)$/gm)) {
    const stage = stages.at(-1);
    if (name === 'FROM') {
      const [base = '', , as = String(stages.length)] = rest.split(/\s+/);
      stages.push({ name: as, base, steps: [], user: undefined });
    } else if (name === 'COPY') {
      const words = rest.split(/\s+/);
      const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined;
      if (words.some((word) => /^--|^\[/.test(word))) throw new Error(`cannot read COPY ${rest}`);
      stage?.steps.push({ kind: 'copy', sources: words.slice(0, -1), target: words.at(-1) ?? '', from });
    } else if (name === 'RUN') stage?.steps.push({ kind: 'run', command: rest });
    else if (name === 'USER' && stage) stage.user = rest;
    else if (name === 'ADD') throw new Error('ADD is not used');
  }
  return stages;
}
