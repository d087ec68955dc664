/** Attributes of a resource and of a span, looked up by name; clients write the same number as int or as string. */
import type { AnyValue, KeyValue } from './gen/opentelemetry/proto/common/v1/common_pb.ts';

/** Looks in the first list, then in the second: a span's own attributes override those of its resource. */
export class Attributes {
  readonly #values = new Map<string, AnyValue | undefined>();

  constructor(...lists: readonly (readonly KeyValue[])[]) {
    for (const list of lists)
      for (const { key, value } of list) if (!this.#values.has(key)) this.#values.set(key, value);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** Text, number or truth value as text; null for others, for an empty text and when absent. */
  text(name: string): string | null {
    const value = this.#values.get(name)?.value;
    switch (value?.case) {
      case 'stringValue':
        return value.value === '' ? null : value.value;
      case 'intValue':
      case 'doubleValue':
      case 'boolValue':
        return String(value.value);
      default:
        return null;
    }
  }

  /** The first of several names that has a text: names have changed with the semantic conventions. */
  firstText(...names: readonly string[]): string | null {
    for (const name of names) {
      const text = this.text(name);
      if (text !== null) return text;
    }
    return null;
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
