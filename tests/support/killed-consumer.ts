/** A process that takes a batch of the outbox and is killed before it acknowledges it. It prints the ids that it took. */
import { createLogger } from '../../src/observability/log.ts';
import { openPostgres } from '../../src/postgres/client.ts';
import { OutboxConsumer } from '../../workers/outbox-consumer.ts';

const [url = '', name = ''] = process.argv.slice(2);
const { db } = openPostgres(url, () => {});
const consumer = new OutboxConsumer({
  db,
  name,
  log: createLogger('fatal'),
  take: async ({ events }) => {
    await Bun.write(Bun.stdout, JSON.stringify(events.map(({ id }) => id)));
    process.kill(process.pid, 'SIGKILL');
    // The kill arrives before this ends.
    await new Promise(() => {});
  },
});
await consumer.drain();
