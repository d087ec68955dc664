/** The field for the legs of a quarantine: `os=windows, os=linux, image="a, b"`. */
type AxisScope = Record<string, string[]>;

/** A name, and a value in quotes (a string of JSON) or without. The field cannot write a name that holds a comma. */
const PAIR = /\s*([^\s,:=]+)=(?:("(?:[^"\\]|\\.)*")|([^\s",](?:[^,]*[^\s,])?))\s*(?:,|$)/uy;
/** A field drops ends of lines, and a reader what is around a value. */
const QUOTED = /^[\s"]|[,\r\n]|\s$/u;

/** Each pair that can be read, and whether there is nothing else; null: every leg. */
export function readAxes(text: string | null): { axes: AxisScope; isWhole: boolean } | null {
  if (text === null) return null;
  const pairs: { name: string; value: string }[] = [];
  let isWhole = !/,\s*$/u.test(text);
  let from = 0;
  while (from < text.length) {
    PAIR.lastIndex = from;
    const [, name = '', quoted, bare] = PAIR.exec(text) ?? [];
    const value = quoted === undefined ? bare : unquoted(quoted);
    if (value) {
      pairs.push({ name, value });
      from = PAIR.lastIndex;
    } else {
      isWhole = false;
      const comma = text.indexOf(',', from);
      from = comma < 0 ? text.length : comma + 1;
    }
  }
  const byName = Map.groupBy(pairs, ({ name }) => name);
  return {
    axes: Object.fromEntries([...byName].map(([name, some]) => [name, some.map(({ value }) => value)])),
    isWhole,
  };
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined if the field cannot say it. */
export function writeAxes(axes: Readonly<Record<string, readonly string[]>>): string | undefined {
  const text = Object.entries(axes)
    .flatMap(([name, values]) => values.map((value) => `${name}=${QUOTED.test(value) ? JSON.stringify(value) : value}`))
    .join(', ');
  const read = readAxes(text);
  return read?.isWhole && sameText(read.axes) === sameText(axes) ? text : undefined;
}

const sameText = (axes: Readonly<Record<string, readonly string[]>>): string =>
  JSON.stringify(Object.entries(axes).sort(([one], [other]) => (one < other ? -1 : 1)));
