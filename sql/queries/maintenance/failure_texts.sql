-- One page of the distinct messages of failures with the group each is stored in, in the order of the key after the last one read.
SET param_is_every_month = false;
SET param_month = 202611;
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_failure_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12';
SET param_type = 'Error';
SET param_message = 'no';
SET param_rows = 10000;
SELECT any(repository_id) AS repository, test_id, failure_id, exception_type, exception_message,
  toUnixTimestamp64Milli(max(failed_at)) AS last_ms
FROM ci.failures
WHERE ({is_every_month: Bool} OR toYYYYMM(failed_at) = {month: UInt32})
  AND ({is_all: Bool} OR repository_id = {repository_id: UUID})
  AND (test_id, failure_id, exception_type, exception_message)
    > ({test_id: UUID}, {failure_id: UUID}, {type: String}, {message: String})
GROUP BY test_id, failure_id, exception_type, exception_message
ORDER BY test_id, failure_id, exception_type, exception_message
LIMIT {rows: UInt32}
