/**
 * Asks an address again and again until its input ends, and prints how many milliseconds the slowest answer took. A process of
 * its own, so that nothing else that a test does makes it wait.
 */
const [address = ''] = process.argv.slice(2);
const POLL_MS = 10;

let isOver = false;
process.stdin.resume();
process.stdin.once('end', () => {
  isOver = true;
});
let slowest = 0;
while (!isOver) {
  const startedAt = performance.now();
  await (await fetch(address)).text();
  slowest = Math.max(slowest, performance.now() - startedAt);
  await Bun.sleep(POLL_MS);
}
console.log(slowest);
process.exit(0);

export {};
