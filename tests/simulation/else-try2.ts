import { newBelief, probabilitiesOf } from '../../src/domain/belief.ts';
import { addQuietDays, readRealHistory } from './real-history.ts';
import { scoreReal } from './real-score.ts';
import { verdictsOf } from './real-verdicts.ts';
import { ServiceRules } from './service-rules.ts';
let h = await readRealHistory('/work/shared/datasets/dask-distributed-2022-2024.tsv.gz');
const mid = Math.floor(h.runs.length/2);
const part = process.argv.includes('--late') ? h.runs.slice(mid) : process.argv.includes('--early') ? h.runs.slice(0, mid) : h.runs;
h = {...h, runs: part};
if (process.argv.includes('--quiet')) addQuietDays(h);
const byTest = new Map<string, number[]>(); for (const [i,{test}] of h.identities.entries()) byTest.set(test,[...(byTest.get(test)??[]),i]);
const legs=[...byTest.values()];
function auc(list: {p:number;y:boolean}[]) { const s=[...list].sort((a,b)=>a.p-b.p); let r=0,n1=0; for (let i=0;i<s.length;) { let j=i; while(j<s.length&&s[j]!.p===s[i]!.p) j++; const rank=(i+j+1)/2; for(let k=i;k<j;k++) if(s[k]!.y){r+=rank;n1++;} i=j;} const n0=s.length-n1; return (r-n1*(n1+1)/2)/(n1*n0); }
for (const [name, make] of [['rules',()=>new ServiceRules()],['with legs',()=>new ServiceRules({legs})]] as const) {
  const r=make(); const open=new Map<number,any>(); const S:any[]=[];
  for (const run of h.runs) { 
    const sharedRun=run.troubles.size>=10;
    for (let k=0;k<run.identities.length;k++){const i=run.identities[k] as number; const o=open.get(i); if(o){const b=r.beliefs.get(i)??newBelief(); const p=probabilitiesOf(b); o.p2=p.broken*.997+p.flaky*p.flakyRate; o.said2=b.status; o.y=run.troubles.has(i); S.push(o); open.delete(i);} }
    r.takeIn(run);
    for (const i of run.troubles.keys()){ const b=r.beliefs.get(i)!; const p=probabilitiesOf(b); open.set(i,{row:b.streak.length,p:p.broken*.997+p.flaky*p.flakyRate,said:b.status,shared:sharedRun}); }
  }
  const sc=scoreReal(h, verdictsOf(h, make())); const f=(x:any)=>(x.right/x.of).toFixed(3);
  console.log(name,'flaky right',f(sc.flakyRight),'known',f(sc.flakyKnown),'active',f(sc.activeRight),f(sc.activeKnown),'broken right',f(sc.brokenRight),'said',f(sc.brokenSaid),'steps',sc.steps.right,sc.steps.of,'wrong rec',sc.wrongRecoveries.right,sc.wrongRecoveries.of);
  for (const [n,l] of [['first, few',S.filter(s=>s.row===1&&!s.shared)],['first, all',S.filter(s=>s.row===1)],['all, few',S.filter(s=>!s.shared)],['second',S.filter(s=>s.row===2&&!s.shared)]] as const) { const q=(k:string,p:string)=>{const said=l.filter(s=>s[k]==='broken'); return `AUC ${auc(l.map(s=>({p:s[p],y:s.y}))).toFixed(3)} said ${said.length} right ${(said.filter(s=>s.y).length/said.length).toFixed(3)}`}; console.log('  ',n,l.length,'| at once',q('said','p'),'| before the next run',q('said2','p2')); }
}
