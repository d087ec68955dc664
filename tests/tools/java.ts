/** Tools in Java, run by Maven. */
import type { Tool } from './tool.ts';

const SUREFIRE = '3.5.4';

/** @param settings of Surefire */
const pom = (dependencies: string, settings = ''): string => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>shop</groupId><artifactId>shop</artifactId><version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>${dependencies}</dependencies>
  <build><plugins>
    <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.14.0</version></plugin>
    <plugin><artifactId>maven-surefire-plugin</artifactId><version>${SUREFIRE}</version><configuration>
      <testFailureIgnore>true</testFailureIgnore>${settings}
    </configuration></plugin>
  </plugins></build>
</project>
`;
const dependency = (group: string, artifact: string, version: string): string =>
  `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version><scope>test</scope></dependency>`;

const JUPITER = `package shop;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import static org.junit.jupiter.api.Assertions.*;
import static org.junit.jupiter.api.Assumptions.*;
class CartTest {
  static int paid = 0;
  @Test void adds() {}
  @Test void pays() { assertEquals(2, ++paid); }
  @Test void ships() { fail("no courier"); }
  @Test void breaks() { throw new IllegalStateException("no database"); }
  @Test @Disabled("later") void later() {}
  @Test void assumes() { assumeTrue(false, "no"); }
  @ParameterizedTest @ValueSource(ints = {1, 2, 3}) void rounds(int n) { assertNotEquals(2, n); }
  @RepeatedTest(2) void again() {}
  @Nested class Empty { @Test void works() {} }
  @Nested class Full { @Test void works() { fail("full"); } }
}
`;
const SET_UP = `package shop;
import org.junit.jupiter.api.*;
class SetUpTest {
  @BeforeAll static void before() { throw new IllegalStateException("no database"); }
  @Test void needsIt() {}
}
`;
const MAVEN = ['mvn', '--batch-mode', '--quiet'];

export const surefire: Tool = {
  name: 'Maven Surefire',
  version: `${SUREFIRE}, JUnit 5.14.4`,
  from: 'maven',
  files: {
    'pom.xml': pom(
      dependency('org.junit.jupiter', 'junit-jupiter', '5.14.4'),
      '<rerunFailingTestsCount>2</rerunFailingTestsCount><trimStackTrace>true</trimStackTrace>',
    ),
    'src/test/java/shop/CartTest.java': JUPITER,
    'src/test/java/shop/SetUpTest.java': SET_UP,
  },
  reports: [
    {
      fixture: 'junit/surefire-3.5-junit5.xml',
      command: [...MAVEN, 'test'],
      file: 'target/surefire-reports/TEST-shop.CartTest.xml',
    },
    { fixture: 'junit/surefire-3.5-set-up.xml', file: 'target/surefire-reports/TEST-shop.SetUpTest.xml' },
  ],
};

const TESTNG = `package shop;
import org.testng.*;
import org.testng.annotations.*;
import static org.testng.Assert.*;
public class CartTest {
  static int paid = 0;
  public static class Again implements IRetryAnalyzer {
    int tries = 0;
    public boolean retry(ITestResult result) { return tries++ < 2; }
  }
  @Test public void adds() {}
  @Test(retryAnalyzer = Again.class) public void pays() { assertEquals(++paid, 2); }
  @Test(retryAnalyzer = Again.class) public void ships() { fail("no courier"); }
  @Test(enabled = false) public void off() {}
  @Test public void later() { throw new SkipException("later"); }
  @Test(dependsOnMethods = "ships") public void needsShips() {}
  @DataProvider public Object[][] numbers() { return new Object[][] {{1}, {2}, {3}}; }
  @Test(dataProvider = "numbers") public void rows(int n) { assertNotEquals(n, 2); }
}
`;

export const testng: Tool = {
  name: 'TestNG',
  version: `7.10.2, Surefire ${SUREFIRE}`,
  from: 'maven',
  files: {
    'pom.xml': pom(
      dependency('org.testng', 'testng', '7.10.2') + dependency('org.slf4j', 'slf4j-nop', '1.7.36'),
      '<properties><property><name>usedefaultlisteners</name><value>true</value></property></properties>',
    ),
    'src/test/java/shop/CartTest.java': TESTNG,
  },
  reports: [
    {
      fixture: 'junit/surefire-3.5-testng.xml',
      command: [...MAVEN, 'test'],
      file: 'target/surefire-reports/TEST-shop.CartTest.xml',
    },
    {
      fixture: 'junit/testng-7.10.xml',
      file: 'target/surefire-reports/junitreports/TEST-shop.CartTest.xml',
    },
    { fixture: 'testng/testng-7.10-shop.xml', file: 'target/surefire-reports/testng-results.xml' },
  ],
};

const FEATURE = `Feature: Cart
  Scenario: works
    Given a cart of 1
  Scenario: ships
    Given a cart of 2
  Scenario: undefined one
    Given nothing like that
  Scenario: later
    Given a skipped cart
  Scenario Outline: rounds
    Given a cart of <count>
    Examples:
      | count |
      | 1     |
      | 2     |
  Rule: Gifts are free
    Scenario: works
      Given a pending cart
`;
const STEPS = `package shop;
import io.cucumber.java.PendingException;
import io.cucumber.java.en.Given;
public class Steps {
  @Given("a cart of {int}") public void cart(int count) { if (count == 2) throw new IllegalStateException("two"); }
  @Given("a skipped cart") public void skipped() { throw new org.opentest4j.TestAbortedException("no"); }
  @Given("a pending cart") public void pending() { throw new PendingException(); }
}
`;
const SUITE = `package shop;
import org.junit.platform.suite.api.*;
@Suite @IncludeEngines("cucumber") @SelectPackages("shop")
@ConfigurationParameter(key = "cucumber.glue", value = "shop")
@ConfigurationParameter(key = "cucumber.plugin", value = "message:report.ndjson, json:report.json, junit:report.xml")
public class ShopTest {}
`;
const CUCUMBER = '7.34.2';

export const cucumberJvm: Tool = {
  name: 'Cucumber-JVM',
  version: `${CUCUMBER}, Surefire ${SUREFIRE}, JUnit 5.14.4`,
  from: 'maven',
  files: {
    'pom.xml': pom(
      dependency('io.cucumber', 'cucumber-java', CUCUMBER) +
        dependency('io.cucumber', 'cucumber-junit-platform-engine', CUCUMBER) +
        dependency('org.junit.platform', 'junit-platform-suite', '1.14.4'),
    ),
    'src/test/java/shop/ShopTest.java': SUITE,
    'src/test/java/shop/Steps.java': STEPS,
    'src/test/resources/shop/cart.feature': FEATURE,
  },
  reports: [
    { fixture: 'cucumber/messages-jvm-7.ndjson', command: [...MAVEN, 'test'], file: 'report.ndjson' },
    { fixture: 'cucumber/json-jvm-7.json', file: 'report.json' },
    { fixture: 'junit/cucumber-jvm-7.xml', file: 'report.xml' },
    { fixture: 'junit/surefire-3.5-cucumber.xml', file: 'target/surefire-reports/TEST-shop.ShopTest.xml' },
  ],
};
