/** Messages as test runners, drivers and clients print them: which are the same failure and which are not. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { normaliseMessage } from '../../src/domain/fingerprint.ts';

type Pair = readonly [what: string, one: string, other: string];

const SAME: readonly Pair[] = [
  // pytest, Python
  ['pytest: different numbers', 'assert 3 == 4', 'assert 5 == 6'],
  [
    'pytest: numbers with their sources',
    'assert 3 == 4\n +  where 3 = len([1, 2, 3])',
    'assert 7 == 4\n +  where 7 = len([1, 2, 7])',
  ],
  [
    'pytest: object addresses',
    'assert <Cart object at 0x7f3a1c2d4e50> is None',
    'assert <Cart object at 0x7f9b00aa1d10> is None',
  ],
  [
    'pytest: tmp_path',
    "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/pytest-of-root/pytest-12/test_save0/out.json'",
    "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/pytest-of-ci/pytest-3/test_save1/out.json'",
  ],
  ['pytest-timeout', 'Failed: Timeout >30.0s', 'Failed: Timeout >60.0s'],
  [
    'pytest-xdist: another worker crashed',
    "worker 'gw0' crashed while running 'tests/test_a.py::test_b'",
    "worker 'gw3' crashed while running 'tests/test_a.py::test_b'",
  ],
  [
    'Python: a mkdtemp folder',
    "PermissionError: [Errno 13] Permission denied: '/tmp/tmpk3j2h1x8'",
    "PermissionError: [Errno 13] Permission denied: '/tmp/tmpzq_w81ab'",
  ],
  ['Python: floating point', 'assert 0.30000000000000004 == 0.3', 'assert 1.1000000000000001 == 1.1'],
  [
    'Python: datetimes',
    'assert datetime is 2026-11-21 03:04:05.123456+00:00',
    'assert datetime is 2026-11-22 13:14:15.654321+00:00',
  ],
  // Jest, Vitest, Node
  [
    'Jest: received values',
    'expect(received).toBe(expected) // Object.is equality\n\nExpected: 3\nReceived: 4',
    'expect(received).toBe(expected) // Object.is equality\n\nExpected: 5\nReceived: 6',
  ],
  [
    'Jest: colours or none',
    `${String.fromCharCode(27)}[2mexpect(${String.fromCharCode(27)}[22mreceived).toBeTruthy()`,
    'expect(received).toBeTruthy()',
  ],
  ['Jest: another time limit', 'Exceeded timeout of 5000 ms for a test.', 'Exceeded timeout of 10000 ms for a test.'],
  ['Vitest: another duration', 'Test timed out in 5000ms.', 'Test timed out in 30000ms.'],
  ['Node: another port', 'connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 127.0.0.1:5433'],
  ['Node: IPv6 and another port', 'connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED ::1:49152'],
  [
    'Node: a port in use',
    'listen EADDRINUSE: address already in use :::3000',
    'listen EADDRINUSE: address already in use :::3417',
  ],
  [
    'Node: macOS temporary folder',
    "ENOENT: no such file or directory, open '/private/var/folders/zz/abc123/T/x1/config.json'",
    "ENOENT: no such file or directory, open '/private/var/folders/qq/def456/T/y2/config.json'",
  ],
  [
    'bundles with a hash in their name',
    'Failed to fetch dynamically imported module: /assets/Cart.8f3a2b1c.js',
    'Failed to fetch dynamically imported module: /assets/Cart.0d4e5f6a.js',
  ],
  // JUnit, Surefire, Java
  ['JUnit: expected and actual', 'expected: <3> but was: <4>', 'expected: <5> but was: <6>'],
  [
    'Java: identity hashes',
    'Expected com.acme.Cart@1b6d3586 to be empty',
    'Expected com.acme.Cart@4554617c to be empty',
  ],
  [
    'Java: identity hashes without a digit',
    'Expected com.acme.Cart@abcdef to be empty',
    'Expected com.acme.Cart@fedcba to be empty',
  ],
  [
    'Surefire: a fork that died',
    'The forked VM terminated without properly saying goodbye. VM crash or System.exit called? Process Exit Code: 137, pid 4711',
    'The forked VM terminated without properly saying goodbye. VM crash or System.exit called? Process Exit Code: 137, pid 815',
  ],
  ['Java: threads of a pool', 'Task rejected from pool-1-thread-7', 'Task rejected from pool-3-thread-12'],
  [
    'Java: a lambda class',
    'ClassCastException: com.acme.Cart$$Lambda$14/0x0000000800c3a840',
    'ClassCastException: com.acme.Cart$$Lambda$97/0x0000000801d2b118',
  ],
  [
    'Awaitility',
    'Condition with alias was not fulfilled within 10 seconds.',
    'Condition with alias was not fulfilled within 30 seconds.',
  ],
  // Go
  ['Go: got and want', 'Sum() = 3, want 4', 'Sum() = 5, want 6'],
  [
    'Go: dial on another port',
    'dial tcp 127.0.0.1:54321: connect: connection refused',
    'dial tcp 127.0.0.1:40001: connect: connection refused',
  ],
  [
    'Go: dial over IPv6',
    'dial tcp [::1]:54321: connect: connection refused',
    'dial tcp [::1]:6: connect: connection refused',
  ],
  [
    'Go: a panic elsewhere in the heap',
    'panic: runtime error: index out of range [5] with length 3\n\ngoroutine 34 [running]',
    'panic: runtime error: index out of range [9] with length 4\n\ngoroutine 7 [running]',
  ],
  ['Go: durations', 'test timed out after 10m0s', 'test timed out after 10m0s '],
  // Rust
  [
    'Rust: left and right',
    'assertion `left == right` failed\n  left: 3\n right: 4',
    'assertion `left == right` failed\n  left: 5\n right: 6',
  ],
  [
    'Rust: another line',
    "thread 'main' panicked at src/cart.rs:42:9:\nempty",
    "thread 'main' panicked at src/cart.rs:48:13:\nempty",
  ],
  // Playwright, Cypress, Selenium
  [
    'Playwright: time limit',
    "Timeout 30000ms exceeded.\nwaiting for getByRole('button', { name: 'Save' })",
    "Timeout 15000ms exceeded.\nwaiting for getByRole('button', { name: 'Save' })",
  ],
  [
    'Playwright: another port',
    'page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:4173/',
    'page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:5173/',
  ],
  [
    'Selenium: session',
    'invalid session id 3f2b1c4d5e6f7a8b9c0d1e2f3a4b5c6d',
    'invalid session id 0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d',
  ],
  // Databases
  [
    'PostgreSQL: another key',
    'duplicate key value violates unique constraint "users_pkey"\nDETAIL:  Key (id)=(42) already exists.',
    'duplicate key value violates unique constraint "users_pkey"\nDETAIL:  Key (id)=(97) already exists.',
  ],
  [
    'PostgreSQL: another e-mail address',
    'duplicate key value violates unique constraint "users_email_key"\nDETAIL:  Key (email)=(ann42@example.com) already exists.',
    'duplicate key value violates unique constraint "users_email_key"\nDETAIL:  Key (email)=(bob7@mail.test) already exists.',
  ],
  [
    'PostgreSQL: deadlocked processes',
    'deadlock detected\nDETAIL:  Process 311 waits for ShareLock on transaction 1723; blocked by process 312.',
    'deadlock detected\nDETAIL:  Process 99 waits for ShareLock on transaction 88123; blocked by process 104.',
  ],
  [
    'MySQL: another entry',
    "ERROR 1062 (23000): Duplicate entry '42-7' for key 'orders.PRIMARY'",
    "ERROR 1062 (23000): Duplicate entry '43-9' for key 'orders.PRIMARY'",
  ],
  ['Redis: another slot', 'MOVED 3999 127.0.0.1:6381', 'MOVED 12182 127.0.0.1:7002'],
  // HTTP and ids
  [
    'HTTP: the same status, another id',
    'GET /orders/42 failed with status code 404',
    'GET /orders/43 failed with status code 404',
  ],
  ['HTTP: durations', 'response took 150ms, limit is 100ms', 'response took 312ms, limit is 100ms'],
  ['ids: another UUID', 'no row 3f2b1c4d-1111-4111-8111-123456789abc', 'no row 0e0e0e0e-2222-4222-8222-abcdefabcdef'],
  [
    'ids: a UUID in quotes that begins with a letter',
    "no order 'a3f2b1c4-1111-4111-8111-123456789abc'",
    "no order 'b0e0e0e0-2222-4222-8222-abcdefabcdef'",
  ],
  ['ids: a ULID', 'no order 01HV6QZJ8W3N5T7R9Y1B2C4D6F', 'no order 01HV7ABCDE3N5T7R9Y1B2C4D6G'],
  [
    'ids: a JSON web token',
    'jwt expired: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_DEF-1',
    'jwt expired: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI5In0.xyz_QRS-9',
  ],
  ['ids: a commit', 'bad object 1f3a9c2', 'bad object 9e8d7c6b5a4f'],
  // Time
  ['time: ISO', 'late at 2026-11-21T03:04:05Z', 'late at 2026-11-22 13:14:15.123'],
  ['time: RFC 2822', 'token expired on Sat, 21 Nov 2026 10:00:00 GMT', 'token expired on Mon, 7 Dec 2026 23:59:59 GMT'],
  ['time: ctime', 'started Sat Nov 21 10:00:00 2026', 'started Wed Jan 6 07:30:12 2027'],
  ['time of day', 'still waiting at 10:15:30.250', 'still waiting at 23:59:59.001'],
  // Form
  ['equal numbers that are equal among themselves', 'expected 3 got 3', 'expected 4 got 4'],
  ['white space', 'a  b\n c', 'a b c'],
  [
    'Windows: temporary folder',
    "cannot open 'C:\\Users\\runner\\AppData\\Local\\Temp\\a1\\out.txt'",
    "cannot open 'C:\\Users\\ci\\AppData\\Local\\Temp\\b2\\out.txt'",
  ],
];

/** Messages of the first half of dask/distributed's public test reports, and others with made-up names. */
const SAME_WITH_MADE_UP_NAMES: readonly Pair[] = [
  [
    'asyncio: a task, its runner and its Python',
    'TimeoutError: Test timeout after 30s.\nStack for <Task pending name=\'Task-187947\' coro=<test_pause() running at /home/runner/work/distributed/distributed/distributed/tests/test_worker_memory.py:504> wait_for=<Future pending cb=[<TaskWakeupMethWrapper object at 0x7f2c640c4d60>()]>> (most recent call last):\n  File "/usr/share/miniconda3/envs/dask-distributed/lib/python3.9/asyncio/tasks.py", line 490, in wait_for',
    'TimeoutError: Test timeout after 30s.\nStack for <Task pending name=\'Task-252047\' coro=<test_pause() running at D:\\a\\distributed\\distributed\\distributed\\tests\\test_worker_memory.py:511> wait_for=<Future pending cb=[<TaskWakeupMethWrapper object at 0x000001BFA1E5A8B0>()]>> (most recent call last):\n  File "C:\\Miniconda3\\envs\\dask-distributed\\lib\\asyncio\\tasks.py", line 442, in wait_for',
  ],
  ['a counter after a point', "no 'compute-task-1653035478.4577928'", "no 'compute-task-1653373860.0248923'"],
  ['a counter without a separator', "no table 'import20261121093000'", "no table 'import20261122101500'"],
  [
    'Windows: a temporary folder with doubled backslashes',
    "assert 'C:\\\\Users\\\\RUNNER~1\\\\AppData\\\\Local\\\\Temp\\\\tmpa2h5a5bl\\\\worker-7lpwzfdm' is None",
    "assert 'C:\\\\Users\\\\RUNNER~1\\\\AppData\\\\Local\\\\Temp\\\\tmput_226wg\\\\worker-tmujqm8j' is None",
  ],
  [
    'Windows: a temporary folder with slashes',
    "WindowsPath('C:/Users/runneradmin/AppData/Local/Temp/pytest-of-runneradmin/pytest-0/a_0/script.py')",
    "WindowsPath('C:/Users/runneradmin/AppData/Local/Temp/pytest-of-runneradmin/pytest-3/a_1/script.py')",
  ],
  ['Python: mkdtemp elsewhere', 'missing: build/tmpk3j2h1x8/out', 'missing: build/tmpzq_w81ab/out'],
  [
    'Python: threads of asyncio',
    'assert (<Thread(asyncio_2, started daemon 139872)>, [])',
    'assert (<Thread(asyncio_5, started daemon 6123)>, [])',
  ],
  [
    'logs with moments, some of them equal',
    'started\n2022-05-20 10:00:01,123 - a\n2022-05-20 10:00:01,123 - b',
    'started\n2022-05-21 11:00:01,123 - a\n2022-05-21 11:00:01,124 - b',
  ],
  [
    'numbers far into a message, some of them equal',
    `leaked ${'a long description of the thread '.repeat(7)} 7 at line 42, 7 at line 42`,
    `leaked ${'a long description of the thread '.repeat(7)} 7 at line 42, 8 at line 45`,
  ],
  ['Kubernetes: pods', 'pod web-7d4b9c6f5-x2x9z is gone', 'pod web-5f6d8c9b47-kq7rt is gone'],
  ['a key of an object store', "no object 'uploads-q7x2k9w4m1z8'", "no object 'uploads-b3n8v5c2j6h1'"],
  ['a name with a random suffix', 'no element .Button_9x7k2m4q', 'no element .Button_3b8v1n6z'],
  ['a nanoid', 'no session V1StG7R8Z5jdH6B2myT9', 'no session q4W8e2R6t1Y9u3I7o5P0'],
  [
    'a UUID after an underscore',
    'no topic_3f2b1c4d-1111-4111-8111-123456789abc',
    'no topic_0e0e0e0e-2222-4222-8222-abcdefabcdef',
  ],
  [
    'node_modules of another checkout',
    'at load (/home/ann/shop/node_modules/vite/dist/node.js:42:7)',
    'at load (/builds/acme/shop/node_modules/vite/dist/node.js:44:9)',
  ],
];

const DIFFERENT: readonly Pair[] = [
  ['HTTP 404 and 500', 'HTTP 404 not found', 'HTTP 500 not found'],
  ['HTTP/1.1 with a status', 'HTTP/1.1 502', 'HTTP/1.1 503'],
  ['axios: status codes', 'Request failed with status code 404', 'Request failed with status code 500'],
  [
    'requests: status and phrase',
    '404 Client Error: Not Found for url: http://localhost:8000/',
    '403 Client Error: Forbidden for url: http://localhost:8000/',
  ],
  ['pytest: statuses that are compared', 'assert 404 == 200', 'assert 500 == 200'],
  ['Jest: statuses that are compared', 'Expected: 200\nReceived: 404', 'Expected: 200\nReceived: 503'],
  ['supertest', 'expected 200 "OK", got 401 "Unauthorized"', 'expected 200 "OK", got 422 "Unauthorized"'],
  ['a response in brackets', 'unexpected <Response [404]>', 'unexpected <Response [500]>'],
  ['Python: keys', "KeyError: 'a'", "KeyError: 'b'"],
  ['Python: attributes', "'Cart' object has no attribute 'total'", "'Cart' object has no attribute 'items'"],
  ['Python: errno', '[Errno 13] failed', '[Errno 111] failed'],
  [
    'Python: files that were chosen',
    "No such file or directory: '/tmp/pytest-1/config.json'",
    "No such file or directory: '/tmp/pytest-1/schema.json'",
  ],
  ['pytest: equal and unequal numbers', 'assert 3 == 3.0', 'assert 3 == 3'],
  ['texts', 'expected true to be false', 'expected undefined to be defined'],
  ['Jest: undefined and null', 'Expected: undefined', 'Expected: null'],
  ['Node: different system errors', 'connect ECONNREFUSED 127.0.0.1:5432', 'connect ETIMEDOUT 127.0.0.1:5432'],
  ['Node: other modules', "Cannot find module './cart'", "Cannot find module './order'"],
  ['quoted identifiers with numbers', "no column 'user-1'", "no column 'user-2'"],
  [
    'PostgreSQL: constraints',
    'duplicate key value violates unique constraint "users_pkey"',
    'duplicate key value violates unique constraint "orders_pkey"',
  ],
  ['PostgreSQL: SQLSTATE', 'SQLSTATE 23505', 'SQLSTATE 40001'],
  ['MySQL: errors', 'ERROR 1062 (23000)', 'ERROR 1213 (40001)'],
  ['Oracle: errors', 'ORA-00001', 'ORA-00942'],
  ['exit codes', 'Process exited with code 137', 'Process exited with code 143'],
  ['signals', 'killed by signal 9', 'killed by signal 11'],
  ['TypeScript: errors', 'error TS-2322', 'error TS-2345'],
  ['Rust: error codes', 'error[E0308]: mismatched types', 'error[E0382]: mismatched types'],
  [
    'Rust: kinds',
    'called `Result::unwrap()` on an `Err` value: Os { code: 2, kind: NotFound }',
    'called `Result::unwrap()` on an `Err` value: Os { code: 13, kind: PermissionDenied }',
  ],
  [
    'Go: nil and out of range',
    'panic: runtime error: invalid memory address',
    'panic: runtime error: index out of range [5]',
  ],
  [
    'Java: exceptions in the message',
    'Caused by: java.net.SocketTimeoutException',
    'Caused by: java.net.ConnectException',
  ],
  [
    'Playwright: other locators',
    "waiting for getByRole('button', { name: 'Save' })",
    "waiting for getByRole('button', { name: 'Send' })",
  ],
  ['equal and unequal numbers', 'expected 3 got 3', 'expected 3 got 4'],
  ['equal and unequal addresses', 'from 10.0.0.1 to 10.0.0.1', 'from 10.0.0.1 to 10.0.0.2'],
  ['versions', 'needs v1.2.3', 'needs v2.0.0'],
  // From the first half of dask/distributed's public test reports.
  ['Windows: errors', '[WinError 267] The operation failed', '[WinError 10053] The operation failed'],
  [
    'asyncio: another test that waits',
    "Stack for <Task pending name='Task-187947' coro=<test_pause() running at a.py:1>",
    "Stack for <Task pending name='Task-187948' coro=<test_steal() running at a.py:1>",
  ],
  [
    'asyncio: waiting for something else',
    "<Task pending name='Task-187947' coro=<test_pause() running> wait_for=<Future pending cb=[Task.task_wakeup()]>>",
    "<Task pending name='Task-187948' coro=<test_pause() running> wait_for=<Future finished result=None>>",
  ],
  ['a timeout and a closed connection', 'TimeoutError: Task-187947', 'CommClosedError: Task-187947'],
  [
    'over TCP and over TLS',
    'Timed out connecting to tcp://127.0.0.1:8786',
    'Timed out connecting to tls://127.0.0.1:8786',
  ],
  [
    'while connecting and during the handshake',
    'Timed out trying to connect to tcp://127.0.0.1:8786 after 30 s',
    'Timed out during handshake while connecting to tcp://127.0.0.1:8786 after 30 s',
  ],
  [
    'other arguments',
    "rechunk() got an unexpected keyword argument 'algorithm'",
    "rechunk() got an unexpected keyword argument 'method'",
  ],
  [
    'a coroutine and a cluster that were not closed',
    'Exception ignored in: <coroutine object TCP.write at 0x7f2c640c4d60>',
    'Exception ignored in: <function Cluster.__del__ at 0x7f2c640c4d60>',
  ],
  ['tasks of another kind', "KeyError: 'slowadd-1-12'", "KeyError: 'slowadd-2-11'"],
  [
    'another file of one package',
    'File "/usr/share/miniconda3/envs/a/lib/python3.9/site-packages/tornado/ioloop.py"',
    'File "/usr/share/miniconda3/envs/a/lib/python3.9/site-packages/tornado/iostream.py"',
  ],
  [
    'another file of the checkout',
    'running at /home/runner/work/shop/shop/tests/cart.py',
    'running at /home/runner/work/shop/shop/tests/order.py',
  ],
  // Codes, and names that end in a number with a meaning.
  ['Windows: exit codes in hexadecimal', 'exited with code 0xC0000005', 'exited with code 0xC0000374'],
  ['HRESULT', 'HRESULT: 0x80070005', 'HRESULT: 0x80004005'],
  ['Rust: system errors', 'failed (os error 104)', 'failed (os error 111)'],
  ['quoted codes', "rule 'E1101' is broken", "rule 'E1102' is broken"],
  ['quoted codes with a separator', "refused with 'ORA-00942'", "refused with 'ORA-00001'"],
  ['quoted words for a code', "'error-1001'", "'error-1002'"],
  ['quoted statuses', "answered 'HTTP-404'", "answered 'HTTP-503'"],
  ['a code before a quote', "status code 'app-404'", "status code 'app-503'"],
  ['algorithms', "unknown digest 'sha-256'", "unknown digest 'sha-512'"],
  ['ciphers', "unknown cipher 'aes-128'", "unknown cipher 'aes-256'"],
  ['encodings', "unknown encoding 'windows-1251'", "unknown encoding 'windows-1252'"],
  ['versions of an interface', 'no kind in v1alpha2', 'no kind in v1beta1'],
  ['columns with a number', "no column 'address2'", "no column 'address3'"],
  ['names without digits', "no queue 'tmp_exports'", "no queue 'tmp_imports'"],
  ['chosen names with digits in them', 'unknown option base64url', 'unknown option utf8mb4'],
];

describe('fingerprint', () => {
  test('the tables hold at least 60 pairs', () => expect(SAME.length + DIFFERENT.length).toBeGreaterThanOrEqual(60));

  test.each([...SAME, ...SAME_WITH_MADE_UP_NAMES])('one failure: %s', (_, one, other) =>
    expect(normaliseMessage(one)).toBe(normaliseMessage(other)),
  );

  test.each([...DIFFERENT])('two failures: %s', (_, one, other) =>
    expect(normaliseMessage(one)).not.toBe(normaliseMessage(other)),
  );

  test('a normalised message stays as it is', () => {
    for (const [, one] of [...SAME, ...SAME_WITH_MADE_UP_NAMES, ...DIFFERENT]) {
      const normalised = normaliseMessage(one);
      expect(normaliseMessage(normalised)).toBe(normalised);
    }
  });

  test('what a program makes up never tells two failures apart, and a code always does', () => {
    const hex = (length: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
    const madeUp = fc.constantFrom<(values: { counter: number; uuid: string; hash: string; at: number }) => string>(
      ({ counter }) => `<Task name='Task-${counter}'>`,
      ({ uuid }) => `order ${uuid}`,
      ({ hash }) => `object at 0x${hash}`,
      ({ at }) => `at ${new Date(at).toISOString()}`,
      ({ counter }) => `in /tmp/run-${counter}/shop`,
      ({ counter }) => `after ${counter} ms`,
    );
    const values = fc.record({
      counter: fc.integer({ min: 100, max: 9_999_999 }),
      uuid: fc.uuid(),
      hash: hex(12),
      at: fc.integer({ min: 1e12, max: 2e12 }),
    });
    const code = fc.integer({ min: 1, max: 255 });
    fc.assert(
      fc.property(madeUp, values, values, code, code, (of, one, other, codeOne, codeOther) => {
        const message = (what: string, exit: number) => `worker failed ${what} and exited with code ${exit}`;
        const [a, b] = [normaliseMessage(message(of(one), codeOne)), normaliseMessage(message(of(other), codeOther))];
        expect(a === b).toBe(codeOne === codeOther);
      }),
    );
  });

  test('a long message of one kind takes linear time', () => {
    for (const part of [
      '9',
      'a1',
      '0x',
      '[::',
      '/tmp',
      "'a",
      '2026-',
      'a@',
      'eyJ',
      'code ',
      'Nov 1 ',
      '@a1b',
      'a1b2c3d4 ',
      'C:\\\\Users\\\\',
      '/lib',
      '/a/a/',
      "'a-1' ",
    ])
      expect(normaliseMessage(part.repeat(50_000)).length).toBeLessThan(20_000);
  });
});
