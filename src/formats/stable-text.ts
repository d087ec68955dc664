/** Texts that stand in names and must be the same in each run. */

/** How Java and Python show an object that does not say what it is: `shop.Cart@1b28cdfa`, `<Cart object at 0x7f2a>`. */
const ADDRESS = /@[0-9a-f]{1,16}(?![\w.])| at 0x[0-9a-f]{1,16}/gi;

/** Without the addresses of objects. Two objects may look alike then. */
export const stableText = (value: string): string => value.replace(ADDRESS, '');
