/** The parameters of a call of a method, as part of its name. */
import { TOO_LONG_NAME } from '../report.ts';

/** What Java shows of an object that does not say what it is: a number that differs from run to run. */
const ADDRESS = /@[0-9a-f]{1,16}(?![\w.])/g;

/** `rows(2, a)`: the same in each run, so it may be the same for two calls. */
export const withParameters = (method: string, values: readonly string[]): string =>
  values.length === 0 ? method : `${method}(${values.map(stable).join(', ')})`.slice(0, TOO_LONG_NAME);

export const stable = (value: string): string => value.replace(ADDRESS, '');
