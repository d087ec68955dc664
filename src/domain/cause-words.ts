/** Words of failure messages that say nothing about the cause; constants of src/domain/cause-signature.ts. */

const COMMON = new Set(
  `the was been are were has have had not none null nil undefined true false and but for from with its this that these
  those than then when while after before during else error errors exception exceptions failed failure failures fail fails
  assert asserted assertion assertionerror expected expect expects actual received got get equal equals tobe toequal
  tobetruthy tobefalsy match matches matching same different differ value values result results object objects instance
  type types class timeout timeouts timed out exceeded exceeds waiting waited wait time sec seconds second minutes test tests
  testing hit async await promise exit exited code status signal process command returned return non zero nonzero killed
  terminated did raise raised raises throw thrown throws unknown unexpected internal invalid cannot could can should would
  must will where call called calls len list dict str int bool bytes array string number function traceback most recent last
  line file stack trace run running hex uuid path random address worker token email installed checkout`.split(/\s+/),
);

/** Types that any fault may have, without their package. */
const PLAIN_TYPES = new Set(
  `AssertionError AssertionFailedError ComparisonFailure TimeoutError TimeoutException TimeoutExpired Error Exception
  RuntimeError Failed Failure CalledProcessError Throwable ValueError TypeError KeyError AttributeError IndexError
  NullPointerException IllegalStateException IllegalArgumentException`.split(/\s+/),
);

const WORD = /[A-Za-z_$][\w$]{2,99}/g;
const PLACEHOLDER = /<[a-z]{1,20}\d{0,6}>/g;
/** Only the beginning of a message says what is wrong. */
const TELLING_LENGTH = 400;

/** The words of a normalised message and its type that say something, in lower case. */
export function tellingWords(exceptionType: string, message: string): Set<string> {
  const text = message.slice(0, TELLING_LENGTH).replace(PLACEHOLDER, ' ');
  const words = new Set<string>();
  for (const [word] of text.matchAll(WORD)) {
    const lower = word.toLowerCase();
    if (!COMMON.has(lower)) words.add(lower);
  }
  const type = exceptionType.slice(exceptionType.lastIndexOf('.') + 1).slice(0, 100);
  if (type !== '' && !PLAIN_TYPES.has(type)) words.add(type.toLowerCase());
  return words;
}
