/** Text that is part of the program: imported `with { type: 'text' }`. */
declare module '*.md' {
  const text: string;
  export default text;
}
