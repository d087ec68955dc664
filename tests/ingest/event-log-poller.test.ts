import { testFollowingTheLog } from '../support/log-poller.ts';

testFollowingTheLog(3_000);
