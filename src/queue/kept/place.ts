/** Where segments lie: a folder, or an S3-compatible store. */
export interface KeptPlace {
  /** The names of all segments, in no order. */
  list(): Promise<string[]>;
  /** Empty if it is gone. */
  read(name: string): Promise<string>;
  /** Puts another text in its place, as a whole or not at all. */
  replace(name: string, text: string): Promise<void>;
  /** Does nothing if it is gone. */
  remove(name: string): Promise<void>;
}
