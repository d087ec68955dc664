/** Attributes of a span and of its resource, looked up by name; clients write the same number as int or as string. */

/** By key; numbers and truth values as text, lists and the like as an empty text. */
export type AttributeTexts = ReadonlyMap<string, string>;

/** Looks in the first list, then in the second: a span's own attributes override those of its resource. */
export class Attributes {
  constructor(
    private readonly own: AttributeTexts,
    private readonly shared: AttributeTexts = NONE,
  ) {}

  has(name: string): boolean {
    return this.own.has(name) || this.shared.has(name);
  }

  /** Text, number or truth value as text; null for others, for an empty text and when absent. */
  text(name: string): string | null {
    return (this.own.has(name) ? this.own : this.shared).get(name) || null;
  }

  /** The first of several names that has a text: names have changed with the semantic conventions. */
  firstText(...names: readonly string[]): string | null {
    for (const name of names) {
      const text = this.text(name);
      if (text !== null) return text;
    }
    return null;
  }

  /** All whose names begin so, with the rest of their names. */
  startingWith(prefix: string): Map<string, string> {
    const found = new Map<string, string>();
    for (const name of new Set([...this.own.keys(), ...this.shared.keys()])) {
      const text = name.startsWith(prefix) ? this.text(name) : null;
      if (text !== null) found.set(name.slice(prefix.length), text);
    }
    return found;
  }

  /** A whole number from 0 to 2^53 - 1, whichever way it is written; null otherwise. */
  count(name: string): number | null {
    const text = this.text(name);
    const number = text !== null && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    return Number.isSafeInteger(number) ? number : null;
  }

  isTrue(name: string): boolean {
    return this.text(name)?.toLowerCase() === 'true';
  }
}

const NONE: AttributeTexts = new Map();
