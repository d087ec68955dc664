import { testFollowingTheLog } from '../support/log-poller.ts';

testFollowingTheLog(6_000);
