/** `1,000`, of a whole number. `toLocaleString` would load the data of every language, which takes Node 15 ms. */
export const grouped = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, ',');
