/** How long tests wait for what must come. No test depends on how fast the machine is: whatever takes this long never comes. */
export const PATIENCE_MS = 300_000;
