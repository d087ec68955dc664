import { testFollowingTheLog } from '../support/log-poller.ts';

testFollowingTheLog(50_000);
