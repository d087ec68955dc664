-- How many events name a person, in any repository or in some: reads the whole log, once in the life of a person. In some while
-- a shard of a cluster does not answer, which the key of the shards leaves out.
SET param_text_pattern = '(?i)^(@?)octocat$';
SET param_repository_ids = '[]';
SET param_json_pattern = '(?i)"(@?)octocat"';
SELECT count() AS events FROM ci.events
WHERE (match(trigger, {text_pattern: String}) OR match(metadata, {json_pattern: String}))
  AND (empty({repository_ids: Array(UUID)}) OR repository_id IN {repository_ids: Array(UUID)})
