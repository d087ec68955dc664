import { testFollowingTheLog } from '../support/log-poller.ts';

testFollowingTheLog(200_000);
