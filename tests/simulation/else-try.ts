import { type Belief, newBelief, statusAfter, probabilitiesOf } from '../../src/domain/belief.ts';
import { BROKEN, normalised, rateOf } from '../../src/domain/belief-weights.ts';
import { foldBelief } from '../../src/domain/belief-fold.ts';
import { meaningOf, troubleFor } from '../../src/domain/judge-runs.ts';
import { PastRuns } from '../../src/domain/run-surroundings.ts';
import { addQuietDays, readRealHistory } from './real-history.ts';
const h = await readRealHistory('/work/shared/datasets/dask-distributed-2022-2024.tsv.gz');
if (process.argv.includes('--quiet')) addQuietDays(h);
const byTest = new Map<string, number[]>(); for (const [i, {test}] of h.identities.entries()) byTest.set(test, [...(byTest.get(test) ?? []), i]);
const others = h.identities.map(({test}, i) => byTest.get(test)!.filter((j) => j !== i));
interface Sample { at:number; healthyP:number; flaky:number; broken:number; rate:number; sameP:number; sameF:number; nowF:number; shared:number; next?:boolean; status:string; row:number; iss:number; recentF:number; nowP:number }
const samples: Sample[] = [];
const beliefs: Belief[] = h.identities.map(() => newBelief());
const last: ({ commit: string; failed: boolean; at: number; ran:number } | undefined)[] = h.identities.map(() => undefined);
const open: (Sample | undefined)[] = h.identities.map(() => undefined);
const runs = new PastRuns();
for (const run of h.runs) {
  let unexpected = 0; for (const i of run.troubles.keys()) if (beliefs[i]!.status === 'healthy') unexpected++;
  const count = { executions: run.identities.length, unexpected, isOnDefaultBranch: true };
  const meaning = meaningOf(count, runs.before(run.at + 1));
  for (let k = 0; k < run.identities.length; k++) {
    const i = run.identities[k] as number; const failed = run.troubles.has(i);
    const s = open[i]; if (s) { s.next = failed; samples.push(s); open[i] = undefined; }
    const b = beliefs[i]!; 
    const t = failed ? troubleFor(b, meaning) : undefined;
    const after = foldBelief(b, { executionId: run.id, result: failed ? 'failed' : 'passed', finishedAt: run.at, commit: run.commit }, t);
    beliefs[i] = after;
    if (failed) { const p = probabilitiesOf(after); let sameP=0,sameF=0,nowF=0,recentF=0,nowP=0; for (const j of others[i]!) { const l = last[j]; if (!l) continue; if (l.commit===run.commit) { if (l.failed) sameF++; else sameP++; } if (l.at > run.at-14*864e5) { if (l.failed) nowF++; else nowP++; } if (l.failed && l.at>run.at-2*864e5) recentF++; }
      open[i] = { at: run.at, healthyP: p.healthy, flaky: p.flaky, broken: p.broken, rate: p.flakyRate, sameP, sameF, nowF, recentF, nowP, shared: run.troubles.size, iss: t!.isShared, status: after.status, row: after.streak.length }; }
    last[i] = { commit: run.commit, failed, at: run.at, ran: 0 };
  }
  runs.add({ startedAt: run.at, ...count });
}
const mid = h.runs[Math.floor(h.runs.length/2)]!.at;
// halves by file as truth.md: earlier/later
const first = samples.filter((s) => s.row === 1 && (process.argv.includes("--all") || s.shared < 10));
const early = first.filter((s)=>s.at<mid), late = first.filter((s)=>s.at>=mid);
const pOf = (s: Sample, f: number) => { const o = s.broken*Math.min(1,f), fl=s.flaky/Math.max(1,f), z = o+s.healthyP+fl; return { broken:o/z, next:(o*.997+fl*s.rate)/z }; };
function auc(list: {p:number;y:boolean}[]) { const s=[...list].sort((a,b)=>a.p-b.p); let r=0,n1=0; for (let i=0;i<s.length;) { let j=i; while(j<s.length&&s[j]!.p===s[i]!.p) j++; const rank=(i+j+1)/2; for(let k=i;k<j;k++) if(s[k]!.y){r+=rank;n1++;} i=j;} const n0=s.length-n1; return (r-n1*(n1+1)/2)/(n1*n0); }
const ll=(l:{p:number;y:boolean}[])=>-l.reduce((a,{p,y})=>a+Math.log(Math.min(.9999,Math.max(1e-4,y?p:1-p))),0)/l.length;
const score=(name:string,list:Sample[],f:(s:Sample)=>number)=>{ const r=list.map(s=>({...pOf(s,f(s)),y:!!s.next})); const said=r.filter(x=>x.broken>=.6); console.log(name.padEnd(40),'n',list.length,'AUC',auc(r.map(x=>({p:x.next,y:x.y}))).toFixed(3),'ll',ll(r.map(x=>({p:x.next,y:x.y}))).toFixed(3),'said broken',said.length,'right',(said.filter(x=>x.y).length/said.length).toFixed(3)); };
const learn=(key:(s:Sample)=>string)=>{ const m=new Map<string,number>(); for(const [k,l] of Map.groupBy(early,key)) { let lo=-8,hi=8; const want=l.filter(s=>s.next).length; for(let n=0;n<60;n++){const x=(lo+hi)/2; const got=l.reduce((a,s)=>a+pOf(s,Math.exp(x)).next,0); if(got>want)hi=x;else lo=x;} m.set(k,Math.exp(lo)); } return m; };
console.log('base rate early', early.filter(s=>s.next).length/early.length, 'late', late.filter(s=>s.next).length/late.length);
score('the rules',late,()=>1);
const all=samples.filter(s=>s.row===1), allLate=all.filter(s=>s.at>=mid);
const T:Record<string,number>={'-0':1,'-1':2.9,'-2+':8.8,P0:.05,P1:.8,'P2+':20};
const kk=(s:Sample)=>`${s.sameP>0?'P':'-'}${s.sameF===0?'0':s.sameF===1?'1':'2+'}`;
console.log('early all base',all.filter(s=>s.at<mid&&s.next).length/all.filter(s=>s.at<mid).length); for(const e of [1,1.25,1.5]) { score('table, few ^'+e,late,s=>(T[kk(s)]!)**e); score('table, all ^'+e,allLate,s=>(T[kk(s)]!)**e);} score('rules all',allLate,()=>1);
 score('the rules, early',early,()=>1);
const b=(n:number)=>n===0?'0':n===1?'1':'2+';
const keys:Record<string,(s:Sample)=>string>={
 'passed here x now failing':s=>`${s.sameP>0?'P':'-'}${b(s.nowF)}`,
 'passed here x failing same commit':s=>`${s.sameP>0?'P':'-'}${b(s.sameF)}`,
 'passed here x recent fail 2d':s=>`${s.sameP>0?'P':'-'}${b(s.recentF)}`,
 'now P any x now F':s=>`${b(s.nowP)}/${b(s.nowF)}`,
 'sameP bucket x sameF':s=>`${b(s.sameP)}/${b(s.sameF)}`,
 'sameP x sameF x recentF-before':s=>`${s.sameP>0?'P':'-'}${b(s.sameF)}${b(s.recentF-s.sameF)}`,
};
for (const [n,k] of Object.entries(keys)) { const m=learn(k); for (const e of [1,1.5]) score(`${n} ^${e}`,late,s=>(m.get(k(s))??1)**e); console.log('   ',[...m].sort().map(([k2,v])=>`${k2}:${v.toFixed(2)}(${early.filter(s=>k(s)===k2).length})`).join(' ')); }
