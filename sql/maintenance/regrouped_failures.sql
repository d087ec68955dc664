-- The failures of a month, each in the group that ci.regroup gives for its message. Others keep their group.
SET param_month = 202611;
SELECT f.* REPLACE (if(g.type = '' AND g.message = '', f.failure_id, g.to_id) AS failure_id)
FROM (SELECT * FROM ci.failures WHERE toYYYYMM(failed_at) = {month: UInt32}) AS f
LEFT ANY JOIN ci.regroup AS g
  ON g.test_id = f.test_id AND g.from_id = f.failure_id AND g.type = f.exception_type AND g.message = f.exception_message
