-- Identities that are named by three lists, as rows. Included where the other identities of their tests are left out.
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_pipeline_names = ['CI'];
SET param_job_names = ['unit'];
SELECT named.1, named.2, named.3
FROM (SELECT arrayJoin(arrayZip({test_ids: Array(UUID)}, {pipeline_names: Array(String)}, {job_names: Array(String)})) AS named)
