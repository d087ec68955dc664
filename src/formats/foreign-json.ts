/** Reports in JSON that are not read, and how to get JUnit XML of the same tests. */

interface Foreign {
  /** All of these stand at the beginning of the report. */
  marks: readonly RegExp[];
  hint: string;
}

const FOREIGN: readonly Foreign[] = [
  {
    marks: [/"passPercent"/, /"stats"/],
    hint: 'a mochawesome report; write JUnit XML with the reporter mocha-junit-reporter',
  },
  {
    marks: [/"\$report_type"/],
    hint: 'a report of pytest-reportlog; write JUnit XML with pytest --junitxml=report.xml',
  },
  {
    marks: [/"exitcode"/, /"root"/, /"(?:summary|collectors)"/],
    hint: 'a report of pytest-json-report; write JUnit XML with pytest --junitxml=report.xml',
  },
  {
    marks: [/"testNodes"|"ActionsInvocationRecord"/],
    hint: 'an xcresult of Xcode; write JUnit XML with xcbeautify --report junit, or convert it with xcresultparser -o junit',
  },
  {
    marks: [/"protocolVersion"/, /"runnerVersion"/],
    hint: 'a report of Dart or Flutter; convert it to JUnit XML with tojunit of the package junitreport',
  },
  {
    marks: [/"testsuites"/, /"testsuite"/],
    hint: 'a report of GoogleTest in JSON; write JUnit XML with --gtest_output=xml:report.xml',
  },
  {
    // The collection, which may be long, comes first.
    marks: [/^\{\s*"collection"\s*:\s*\{\s*"/],
    hint: 'a report of Newman; write JUnit XML with newman run --reporters junit',
  },
  {
    marks: [/"numTotalTestSuites"/],
    hint: 'a report of Jest or Vitest; write JUnit XML with jest-junit, or vitest --reporter=junit',
  },
  {
    marks: [/"summary_line"|"examples"/, /"rspec|"version"/],
    hint: 'a report of RSpec; write JUnit XML with the formatter RspecJunitFormatter',
  },
  {
    marks: [/"stats"/, /"passes"/, /"tests"/],
    hint: 'a report of Mocha; write TAP with --reporter tap, or JUnit XML with mocha-junit-reporter',
  },
  {
    marks: [/"type"\s*:\s*"(?:suite|test)"/, /"event"\s*:/],
    hint: 'a report of Rust; write JUnit XML with cargo nextest',
  },
];

/** Such as `a mochawesome report; …`; null if it is not known. */
export const jsonHint = (head: string): string | null =>
  FOREIGN.find(({ marks }) => marks.every((mark) => mark.test(head)))?.hint ?? null;
