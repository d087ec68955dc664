-- How many events name a person, in any repository: reads the whole log, once in the life of a person.
SET param_text_pattern = '(?i)^(@?)octocat$';
SET param_json_pattern = '(?i)"(@?)octocat"';
SELECT count() AS events FROM ci.events
WHERE match(trigger, {text_pattern: String}) OR match(metadata, {json_pattern: String})
