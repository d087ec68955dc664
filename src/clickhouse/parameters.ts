/**
 * Parameters of statements: `{name: Type}` in SQL, and the TypeScript type of the value that each ClickHouse type
 * takes.
 */

/** Bounds of integers are checked when they are bound (literals.ts). */
interface ScalarValues {
  Bool: boolean;
  Float64: number;
  Int32: number;
  Int64: number;
  String: string;
  UInt8: number;
  UInt16: number;
  UInt32: number;
  /** Text would be quoted in a list, which ClickHouse refuses over HTTP. */
  UInt64: number | bigint;
  UUID: string;
}
type ScalarType = keyof ScalarValues;

type ParameterType = ScalarType | `Array(${ScalarType})`;
/** The ClickHouse types of a statement's parameters, by name. */
export type ParameterTypes = Readonly<Record<string, ParameterType>>;

type ValueOf<T> = T extends `Array(${infer Item extends ScalarType})`
  ? readonly ScalarValues[Item][]
  : T extends ScalarType
    ? ScalarValues[T]
    : never;
/** The values that parameters of these types take. */
export type ValuesOf<P extends ParameterTypes> = { readonly [Name in keyof P]: ValueOf<P[Name]> };

/** Any value a parameter may have. Over HTTP, `@clickhouse/client` binds them as `bindLiterals` does. */
export type ParameterValue = string | number | bigint | boolean | readonly ParameterValue[];
export type Parameters = Readonly<Record<string, ParameterValue>>;

/** Captures the name, then the type. */
export const PLACEHOLDER = /\{(\w+)\s*:\s*([A-Za-z0-9_(), ']+)\}/g;

/** The placeholders of a statement in order, repetitions included. */
export const placeholdersOf = (sql: string): [name: string, type: string][] =>
  Array.from(sql.matchAll(PLACEHOLDER), ([, name = '', type = '']) => [name, type.trim()]);
